// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
)

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
