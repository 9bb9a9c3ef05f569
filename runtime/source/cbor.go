// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// cborWire reads CBOR (RFC 8949) of the same shape as JSON; a watch is a sequence of data items (RFC 8742). Data items are cut
// out of the stream one by one and decoded by apimachinery, whose rules they are.
type cborWire struct {
	c    *codec
	r    byteReader
	item []byte // the value at hand
	buf  []byte // anything small
}

func newCBORWire(c *codec, r io.Reader) *cborWire { return &cborWire{c: c, r: newByteReader(r)} }

func (c *cborWire) offset() int64 { return c.r.n }

func (c *cborWire) list(l *listReader) error {
	first, err := c.value()
	if err != nil {
		return cutOff(err)
	}
	seen := map[string]bool{}
	err = c.members(first, "the response", func(name string) (err error) {
		switch name {
		case "kind":
			l.kind, err = c.text("the list's kind")
		case "apiVersion":
			l.apiVersion, err = c.text("the list's apiVersion")
		case "metadata":
			l.meta, err = c.listMeta()
		case "items":
			err = c.items(l)
		default:
			c.buf, err = c.next(c.buf)
			return err
		}
		if err == nil && seen[name] {
			return errTwoMembers(name)
		}
		seen[name] = true
		return err
	})
	if err != nil {
		return err
	}
	if b, err := c.r.ReadByte(); err == nil {
		return fmt.Errorf("%w: a byte %#x after the end of the list", ErrMalformed, b)
	} else if err != io.EOF {
		return err
	}
	return nil
}

func (c *cborWire) listMeta() (listMeta, error) {
	var err error
	if c.buf, err = c.next(c.buf); err != nil {
		return listMeta{}, err
	}
	var fields map[string]any
	if err := direct.Unmarshal(c.buf, &fields); err != nil {
		return listMeta{}, fmt.Errorf("the list's metadata: %w", err)
	}
	var meta listMeta
	meta.ResourceVersion, _ = fields["resourceVersion"].(string)
	meta.Continue, _ = fields["continue"].(string)
	return meta, nil
}

func (c *cborWire) items(l *listReader) error {
	h, err := c.value()
	if err != nil {
		return cutOff(err)
	}
	if h.isNull() {
		l.items = true
		return nil
	}
	if h.major != cborArray {
		return fmt.Errorf("%w: the list's items are a CBOR %v, want an array", ErrMalformed, h)
	}
	if err := l.begin(); err != nil {
		return err
	}
	for n := uint64(0); h.indefinite || n < h.arg; n++ {
		if h.indefinite {
			if done, err := c.skipBreak(); done || err != nil {
				return err
			}
		}
		if err := l.next(cborItem{c}); err != nil {
			return err
		}
	}
	return nil
}

// cborItem is an item of a list, which is still in the stream.
type cborItem struct{ *cborWire }

func (c cborItem) object() (object.Object, identity, error) {
	var err error
	if c.item, err = c.next(c.item); err != nil {
		return nil, identity{}, err
	}
	return c.cborWire.object()
}

func (c *cborWire) event(w *watchReader) (event Event[object.Object], key object.Key, err error) {
	first, err := c.value()
	if err != nil {
		return event, key, err
	}
	event, key, err = c.frame(w, first)
	return event, key, cutOff(err)
}

// frame reads one event, whose head has been read.
func (c *cborWire) frame(w *watchReader, first cborHead) (event Event[object.Object], key object.Key, err error) {
	var typ string
	var typed, about bool
	err = c.members(first, "an event", func(name string) (err error) {
		switch {
		case name == "type" && typed:
			return errTwoTypes
		case name == "type":
			typed = true
			typ, err = c.text("the event's type")
		case name == "object" && about:
			return errTwoObjects
		case name == "object":
			about = true
			c.item, err = c.next(c.item)
		default:
			c.buf, err = c.next(c.buf)
		}
		return err
	})
	if err == nil {
		err = checkType(typ)
	}
	if err == nil && !about {
		err = errNoObject(typ)
	}
	if err != nil {
		return event, key, err
	}
	return w.content(typ, c)
}

// object implements value.
func (c *cborWire) object() (object.Object, identity, error) {
	raw := c.item
	if !c.c.drop.nothing() {
		raw = dropCBOR(raw, &c.c.drop)
	}
	if c.c.untyped {
		var content map[string]any
		err := direct.Unmarshal(raw, &content)
		return c.c.readUntyped(content, err)
	}
	obj, _, err := c.c.cbor.Decode(raw, &anyKind, nil)
	if err != nil {
		return nil, identity{key: c.key(raw)}, err
	}
	return c.c.read(obj.(object.Object), identity{}, nil)
}

// key tries to name an object that can't be decoded.
func (c *cborWire) key(raw []byte) (key object.Key) {
	var content map[string]any
	if direct.Unmarshal(raw, &content) == nil {
		meta, _ := content["metadata"].(map[string]any)
		key.Namespace, _ = meta["namespace"].(string)
		key.Name, _ = meta["name"].(string)
	}
	return key
}

// mark implements value.
func (c *cborWire) mark() (mark, error) {
	var content map[string]any
	if err := direct.Unmarshal(c.item, &content); err != nil {
		return mark{}, err
	}
	var m mark
	m.apiVersion, _ = content["apiVersion"].(string)
	m.kind, _ = content["kind"].(string)
	meta, _ := content["metadata"].(map[string]any)
	m.resourceVersion, _ = meta["resourceVersion"].(string)
	annotations, _ := meta["annotations"].(map[string]any)
	m.initialEventsEnd = annotations[metav1.InitialEventsAnnotationKey] == "true"
	return m, nil
}

// status implements value.
func (c *cborWire) status() (metav1.Status, error) { return cborStatus(c.item) }

func cborStatus(raw []byte) (metav1.Status, error) {
	var status metav1.Status
	decoder := cbor.NewSerializer(creater(func() runtime.Object { return &status }), nil)
	_, _, err := decoder.Decode(raw, &anyKind, nil)
	return status, err
}

// anyKind is what an object that doesn't say its kind is taken for; the decoder wants to know.
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

// creater makes objects for a decoder that would look them up in a scheme.
type creater func() runtime.Object

// New implements runtime.ObjectCreater, for whatever kind an object says it is of: that is checked later.
func (f creater) New(schema.GroupVersionKind) (runtime.Object, error) {
	if obj := f(); obj != nil {
		return obj, nil
	}
	return nil, errNoNewObject
}
