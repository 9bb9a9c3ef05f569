// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// marshaler is implemented by Go types that have protobuf.
type marshaler interface{ Marshal() ([]byte, error) }

// partialGVK is the kind of objects of which only the metadata is sent.
var partialGVK = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}

// partial shares its maps and slices with obj.
func partial(obj object.Object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(obj)
	p.SetGroupVersionKind(partialGVK)
	return p
}

// negotiate picks the format that the client likes best of those that the server has.
func (c *collection) negotiate(accept string, watch bool) (e encoding, metadataOnly, ok bool) {
	if accept == "" {
		accept = "*/*"
	}
	type clause struct {
		media  string
		params map[string]string
		q      float64
	}
	var clauses []clause
	for text := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		q := 1.0
		if v, err := strconv.ParseFloat(params["q"], 64); err == nil {
			q = v
		}
		clauses = append(clauses, clause{media, params, q})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		switch {
		case a.q > b.q:
			return -1
		case a.q < b.q:
			return 1
		}
		return 0
	})
	as := "PartialObjectMetadataList"
	if watch {
		as = "PartialObjectMetadata"
	}
	for _, cl := range clauses {
		metadataOnly := cl.params["as"] == as && cl.params["g"] == partialGVK.Group && cl.params["v"] == partialGVK.Version
		if cl.params["as"] != "" && !metadataOnly {
			continue
		}
		if cl.media == CBOR+"-seq" && watch {
			cl.media = CBOR
		}
		if cl.media == "*/*" || cl.media == "application/*" {
			cl.media = JSON
		}
		if c.server.MediaTypes != nil && !slices.Contains(c.server.MediaTypes, cl.media) {
			continue
		}
		switch {
		case cl.media == JSON:
			return jsonEncoding{c}, metadataOnly, true
		case cl.media == CBOR:
			return cborEncoding{c}, metadataOnly, true
		case cl.media == Protobuf && (c.proto || metadataOnly):
			return protoEncoding{}, metadataOnly, true
		}
	}
	return nil, false, false
}

// encoding is one format.
type encoding interface {
	contentType(watch bool) string
	// object encodes one object as a whole response.
	object(runtime.Object) ([]byte, error)
	page(*Page) ([]byte, error)
	event(Event) ([]byte, error)
}

// bare returns an item of a list as an API server sends it: items of built-in kinds have no kind
// and apiVersion.
func (c *collection) bare(item runtime.Object) runtime.Object {
	if item != nil && c.proto && item.GetObjectKind().GroupVersionKind() == c.kind {
		item = item.DeepCopyObject()
		item.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return item
}

func (p *Page) meta() metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: p.ResourceVersion, Continue: p.Continue, RemainingItemCount: p.remaining}
}

// builtinList is the JSON of a list of a built-in kind.
type builtinList struct {
	Kind       string           `json:"kind"`
	APIVersion string           `json:"apiVersion"`
	Metadata   metav1.ListMeta  `json:"metadata"`
	Items      []runtime.Object `json:"items"`
}

// customList is the JSON of a list of custom resources: kind and metadata stand behind the items.
type customList struct {
	APIVersion string           `json:"apiVersion"`
	Items      []runtime.Object `json:"items"`
	Kind       string           `json:"kind"`
	Metadata   metav1.ListMeta  `json:"metadata"`
}

// wireEvent is the JSON of an event.
type wireEvent struct {
	Type   string         `json:"type"`
	Object runtime.Object `json:"object"`
}

type jsonEncoding struct{ c *collection }

func (jsonEncoding) contentType(bool) string { return JSON }

func (jsonEncoding) object(obj runtime.Object) ([]byte, error) { return line(obj) }

func (e jsonEncoding) page(p *Page) ([]byte, error) {
	items := make([]runtime.Object, 0, len(p.Items))
	for _, item := range p.Items {
		items = append(items, e.c.bare(item))
	}
	if e.c.proto {
		return line(builtinList{p.Kind, p.APIVersion, p.meta(), items})
	}
	return line(customList{p.APIVersion, items, p.Kind, p.meta()})
}

func (jsonEncoding) event(e Event) ([]byte, error) { return line(wireEvent(e)) }

func line(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	return append(raw, '\n'), err
}

// cborEncoding writes data items with the tag of self-described CBOR (RFC 8949, section 3.4.6); a
// watch is a sequence of them (RFC 8742).
type cborEncoding struct{ c *collection }

var selfDescribed = []byte{0xd9, 0xd9, 0xf7}

func (cborEncoding) contentType(watch bool) string {
	if watch {
		return CBOR + "-seq"
	}
	return CBOR
}

func (cborEncoding) object(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return slices.Concat(selfDescribed, []byte{0xf6}), nil
	}
	return shuffled(obj)
}

// shuffled encodes an object as API servers do: its keys have any order.
func shuffled(obj runtime.Object) ([]byte, error) {
	var b bytes.Buffer
	err := cbor.NewSerializer(nil, nil).(runtime.NondeterministicEncoder).EncodeNondeterministic(obj, &b)
	return b.Bytes(), err
}

func (e cborEncoding) page(p *Page) ([]byte, error) {
	items := make([]any, 0, len(p.Items))
	for _, item := range p.Items {
		raw, err := e.object(e.c.bare(item))
		if err != nil {
			return nil, err
		}
		items = append(items, rawCBOR(raw[len(selfDescribed):]))
	}
	return shuffled(&unstructured.Unstructured{Object: map[string]any{
		"kind": p.Kind, "apiVersion": p.APIVersion, "metadata": p.meta(), "items": items,
	}})
}

func (e cborEncoding) event(event Event) ([]byte, error) {
	obj, err := e.object(event.Object)
	if err != nil {
		return nil, err
	}
	return shuffled(&metav1.WatchEvent{Type: event.Type, Object: runtime.RawExtension{Raw: obj}})
}

// rawCBOR is encoded as it is.
type rawCBOR []byte

// MarshalCBOR returns r.
func (r rawCBOR) MarshalCBOR() ([]byte, error) { return r, nil }

// protoEncoding writes k8s\0 and a runtime.Unknown; a watch consists of frames with a length of
// four bytes, big-endian, and a metav1.WatchEvent without the prefix.
type protoEncoding struct{}

func (protoEncoding) contentType(watch bool) string {
	if watch {
		return Protobuf + ";stream=watch"
	}
	return Protobuf
}

func (protoEncoding) object(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return envelope("", "", nil)
	}
	raw, err := marshal(obj)
	if err != nil {
		return nil, err
	}
	apiVersion, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return envelope(apiVersion, kind, raw)
}

func (protoEncoding) page(p *Page) ([]byte, error) {
	listMeta := p.meta()
	raw, err := listMeta.Marshal()
	if err != nil {
		return nil, err
	}
	list := field(nil, 1, raw)
	for _, item := range p.Items {
		if raw, err = marshal(item); err != nil {
			return nil, err
		}
		list = field(list, 2, raw)
	}
	return envelope(p.APIVersion, p.Kind, list)
}

func (e protoEncoding) event(event Event) ([]byte, error) {
	obj, err := e.object(event.Object)
	if err != nil {
		return nil, err
	}
	wire := metav1.WatchEvent{Type: event.Type, Object: runtime.RawExtension{Raw: obj}}
	raw, err := wire.Marshal()
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...), err
}

func marshal(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, nil
	}
	m, ok := obj.(marshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf", obj)
	}
	return m.Marshal()
}

// envelope wraps content as every protobuf object of Kubernetes is wrapped.
func envelope(apiVersion, kind string, content []byte) ([]byte, error) {
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: content}
	raw, err := unknown.Marshal()
	return append([]byte("k8s\x00"), raw...), err
}

// field appends a protobuf field of bytes.
func field(to []byte, number uint64, content []byte) []byte {
	to = binary.AppendUvarint(to, number<<3|2)
	to = binary.AppendUvarint(to, uint64(len(content)))
	return append(to, content...)
}
