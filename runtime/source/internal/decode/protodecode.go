// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/source/internal/protodec"
)

// protoDecoder decodes objects and events. Input that the fast decoder declines is decoded by the
// type's own Unmarshal.
type protoDecoder struct {
	// Set once at construction.
	c        *Codec
	readOnly bool

	known Known // nil: nothing

	// Made for the first object, since a watch may bring none.
	begun bool
	fast  *protodec.Decoder // nil for types that only the slow decoder can decode
}

func (p *protoFormat) decoder() decoder {
	d := p.s.codec.pools.proto.pool(p.s.readOnly).get()
	if d == nil {
		d = &protoDecoder{c: p.s.codec, readOnly: p.s.readOnly}
	}
	d.known = p.s.known
	return d
}

func (p *protoFormat) release(d decoder) {
	proto := d.(*protoDecoder)
	proto.known = nil
	p.s.codec.pools.proto.pool(p.s.readOnly).put(proto)
}

// item implements decoder. Items have no envelope.
func (d *protoDecoder) item(raw []byte, r *Item) { d.object(envelope{raw: raw}, r, true) }

// event implements decoder.
func (d *protoDecoder) event(raw []byte, r *Item) {
	typ, e, err := parseEvent(raw)
	if err != nil {
		r.err = err
		return
	}
	switch typ {
	case errorEvent:
		var status metav1.Status
		if status, r.err = e.status(); r.err == nil {
			r.err = statusError(status)
		}
	case "BOOKMARK":
		r.Type = Bookmark
		d.mark(e, r)
	default:
		r.Type = eventType(typ)
		d.object(e, r, r.Type == Added)
	}
}

// object decodes an object. With lookUp it first asks for a known one.
func (d *protoDecoder) object(e envelope, r *Item, lookUp bool) {
	if lookUp && d.known != nil {
		if id, ok := protodec.ReadIdentity(e.raw); ok {
			if obj := find(d.known, id.Name, id.Namespace, id.UID, id.ResourceVersion); obj != nil && areFields(e.raw) {
				setKnown(obj, r)
				return
			}
		}
	}
	if !d.begun {
		d.begun, d.fast = true, d.c.fastProto(d.readOnly)
	}
	r.id = identity{apiVersion: e.apiVersion, kind: e.kind}
	obj, fast, err := d.c.fresh()
	if err != nil {
		r.err = err
		return
	}
	if d.fast != nil && fast {
		if d.fast.Decode(e.raw, reflect.ValueOf(obj).UnsafePointer()) {
			r.Object, r.id, r.err = d.c.read(obj, r.id, nil)
			return
		}
		if obj, _, err = d.c.fresh(); err != nil {
			r.err = err
			return
		}
	}
	raw := e.raw
	if !d.c.drop.None() {
		raw, err = dropProto(raw, &d.c.drop)
	}
	if err == nil {
		err = malformed(obj.(protoMessage).Unmarshal(raw))
	}
	r.Object, r.id, r.err = d.c.read(obj, r.id, err)
}

// areFields reports whether msg consists of whole fields.
func areFields(msg []byte) bool {
	for len(msg) > 0 {
		var err error
		if _, msg, err = nextField(msg); err != nil {
			return false
		}
	}
	return true
}

// mark decodes a bookmark. It looks like an object of the kind, but only its version and
// annotations matter.
func (d *protoDecoder) mark(e envelope, r *Item) {
	var meta metav1.ObjectMeta
	for rest := e.raw; len(rest) > 0; {
		var f protoField
		if f, rest, r.err = nextField(rest); r.err != nil {
			return
		}
		if f.tag == protoBytes(1) {
			if r.err = malformed(meta.Unmarshal(f.value)); r.err != nil {
				return
			}
		}
	}
	r.id = identity{apiVersion: e.apiVersion, kind: e.kind, resourceVersion: meta.ResourceVersion}
	r.InitialEventsEnd = meta.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// protoStatus decodes a Status with its envelope.
func protoStatus(raw []byte) (metav1.Status, error) {
	e, err := parseEnvelope(raw)
	if err != nil {
		return metav1.Status{}, err
	}
	return e.status()
}

func (e envelope) status() (status metav1.Status, err error) {
	if e.kind == "Status" {
		err = malformed(status.Unmarshal(e.raw))
	}
	status.APIVersion, status.Kind = e.apiVersion, e.kind
	return status, err
}

// parseEvent reads an event, and the envelope of its object.
func parseEvent(raw []byte) (typ string, e envelope, err error) {
	var rawObject []byte
	for len(raw) > 0 {
		var f protoField
		if f, raw, err = nextField(raw); err != nil {
			return "", e, err
		}
		switch f.tag {
		case protoBytes(1):
			typ = typeName(f.value)
		case protoBytes(2):
			rawObject = f.value
		}
	}
	if err := checkType(typ); err != nil {
		return "", e, err
	}
	var object []byte
	for len(rawObject) > 0 {
		var f protoField
		if f, rawObject, err = nextField(rawObject); err != nil {
			return "", e, err
		}
		if f.tag == protoBytes(1) {
			object = f.value
		}
	}
	if object == nil {
		return "", e, errNoObject(typ)
	}
	e, err = parseEnvelope(object)
	return typ, e, err
}
