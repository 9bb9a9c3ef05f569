// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/informer-gen/informer-gen/runtime/internal/cborwire"
	"github.com/informer-gen/informer-gen/runtime/internal/quantity"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// cborDecoder decodes objects and events by apimachinery's decoder, which defines the rules.
type cborDecoder struct{ c *Codec }

func (c *cborFormat) decoder() decoder { return cborDecoder{c.s.codec} }

func (c *cborFormat) release(decoder) {}

// item implements decoder.
func (d cborDecoder) item(raw []byte, r *Item) {
	if !d.c.drop.None() {
		raw = cborwire.Drop(raw, &d.c.drop)
	}
	if d.c.untyped {
		var content map[string]any
		err := direct.Unmarshal(raw, &content)
		r.Object, r.id, r.err = d.c.readUntyped(content, err)
		return
	}
	if hasSlowText(raw) {
		d.byJSON(raw, r)
		return
	}
	obj, _, err := d.c.cbor.Decode(raw, &anyKind, nil)
	if err != nil {
		r.id, r.err = identity{key: cborKey(raw)}, err
		return
	}
	r.Object, r.id, r.err = d.c.read(obj.(object.Object), identity{}, nil)
}

// hasSlowText reports whether there is a text for which the decoder of quantities would take
// minutes, or one in pieces, which API servers don't send.
func hasSlowText(raw []byte) bool {
	for len(raw) > 0 {
		h, ok, err := cborwire.HeadOf(raw)
		if err != nil || !ok {
			return false // the decoder refuses it
		}
		raw = raw[h.Size:]
		if h.Major != cborwire.Bytes && h.Major != cborwire.Text {
			continue
		}
		if h.Indefinite {
			return true
		}
		n := min(h.Arg, uint64(len(raw)))
		// Few texts have an exponent, and only those are copied.
		if at := bytes.LastIndexAny(raw[:n], "eE"); at >= 0 && bytes.ContainsAny(raw[at:n], "0123456789") && quantity.IsSlow(string(raw[:n])) {
			return true
		}
		raw = raw[n:]
	}
	return false
}

// byJSON decodes an object by way of JSON, whose decoder parses quantities in bounded time.
func (d cborDecoder) byJSON(raw []byte, r *Item) {
	var content map[string]any
	err := direct.Unmarshal(raw, &content)
	if err == nil {
		raw, err = json.Marshal(content)
	}
	if err != nil {
		r.id, r.err = identity{key: cborKey(raw)}, err
		return
	}
	(&jsonDecoder{c: d.c}).item(raw, r)
}

// event implements decoder.
func (d cborDecoder) event(raw []byte, r *Item) {
	typ, rawObject, err := splitCBOR(raw)
	if err != nil {
		r.err = err
		return
	}
	switch typ {
	case errorEvent:
		var status metav1.Status
		if status, r.err = cborStatus(rawObject); r.err == nil {
			r.err = statusError(status)
		}
	case "BOOKMARK":
		r.Type = Bookmark
		d.mark(rawObject, r)
	default:
		r.Type = eventType(typ)
		d.item(rawObject, r)
	}
}

// splitCBOR reads the members of an event.
func splitCBOR(raw []byte) (typ string, rawObject []byte, err error) {
	// The event is whole, so this feed never reads.
	c := cborFormat{f: &feed{buf: raw, end: len(raw), err: io.EOF}}
	first, err := c.value()
	if err != nil {
		return "", nil, cutOff(err)
	}
	typed := false
	err = c.members(first, "an event", func(name string) (err error) {
		switch {
		case name == "type" && typed:
			return errTwoTypes
		case name == "type":
			typed = true
			typ, err = c.text("the event's type")
		case name == "object" && rawObject != nil:
			return errTwoObjects
		case name == "object":
			rawObject, err = c.next()
		default:
			_, err = c.next()
		}
		return err
	})
	if err == nil {
		err = checkType(typ)
	}
	if err == nil && rawObject == nil {
		err = errNoObject(typ)
	}
	return typ, rawObject, err
}

// cborKey returns the key of an object that can't be decoded, as far as it can be read.
func cborKey(raw []byte) (key object.Key) {
	var content map[string]any
	if direct.Unmarshal(raw, &content) == nil {
		meta, _ := content["metadata"].(map[string]any)
		key.Namespace, _ = meta["namespace"].(string)
		key.Name, _ = meta["name"].(string)
	}
	return key
}

// mark decodes a bookmark. It looks like an object of the kind, but only its version and
// annotations matter.
func (d cborDecoder) mark(raw []byte, r *Item) {
	var content map[string]any
	if r.err = direct.Unmarshal(raw, &content); r.err != nil {
		return
	}
	r.id.apiVersion, _ = content["apiVersion"].(string)
	r.id.kind, _ = content["kind"].(string)
	meta, _ := content["metadata"].(map[string]any)
	r.id.resourceVersion, _ = meta["resourceVersion"].(string)
	annotations, _ := meta["annotations"].(map[string]any)
	r.InitialEventsEnd = annotations[metav1.InitialEventsAnnotationKey] == "true"
}

func cborStatus(raw []byte) (metav1.Status, error) {
	var status metav1.Status
	decoder := cbor.NewSerializer(creater(func() runtime.Object { return &status }), nil)
	_, _, err := decoder.Decode(raw, &anyKind, nil)
	return status, err
}

// anyKind is the default for objects without a kind; the decoder needs one.
var anyKind = schema.GroupVersionKind{Version: "any", Kind: "any"}

// newCBORDecoder makes a decoder of objects that newObject makes.
func newCBORDecoder(newObject func() object.Object) runtime.Decoder {
	return cbor.NewSerializer(creater(func() runtime.Object {
		if obj := newObject(); obj != nil {
			return obj
		}
		return nil
	}), nil)
}

// creater makes objects for a decoder that normally finds their types in a scheme.
type creater func() runtime.Object

// New implements runtime.ObjectCreater. It ignores the kind, which is checked later.
func (f creater) New(schema.GroupVersionKind) (runtime.Object, error) {
	if obj := f(); obj != nil {
		return obj, nil
	}
	return nil, errNoNewObject
}
