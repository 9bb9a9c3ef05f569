// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/internal/protodec"
	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// protoDecoder decodes objects and events. The type's own Unmarshal decodes input that the fast
// decoder declines; for a projection, which has none, it is an error.
type protoDecoder struct {
	// Set once at construction.
	codec    *Codec
	readOnly bool

	known     Known      // nil: nothing
	selection *selection // nil: all

	// Made for the first object, since a watch may bring none.
	initialized bool
	fast        *protodec.Decoder // nil for types without a fast decoder

	apiVersion, kind string // of the last object; most objects have the same
}

func (p *protoFormat) decoder() decoder {
	d := p.stream.codec.pools.proto.pool(p.stream.readOnly).get()
	if d == nil {
		d = &protoDecoder{codec: p.stream.codec, readOnly: p.stream.readOnly}
	}
	d.known, d.selection = p.stream.known, p.stream.selection
	return d
}

func (p *protoFormat) release(d decoder) {
	proto := d.(*protoDecoder)
	proto.known, proto.selection = nil, nil
	p.stream.codec.pools.proto.pool(p.stream.readOnly).put(proto)
}

// item implements decoder. Items have no envelope.
func (d *protoDecoder) item(raw []byte, r *Item) { d.object(envelope{raw: raw}, r, true) }

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
		r.Type = deltafifo.Bookmark
		d.bookmark(e, r)
	default:
		r.Type = eventType(typ)
		d.object(e, r, r.Type == deltafifo.Added)
	}
}

func (d *protoDecoder) object(e envelope, r *Item, lookUp bool) {
	known := d.known
	if !lookUp {
		known = nil
	}
	decided := d.selection == nil
	if !decided || known != nil {
		if decided = d.look(e, r, known); r.known || r.dropped {
			return
		}
	}
	d.decode(e, r)
	if !decided && r.err == nil && r.id.key.Name != "" {
		r.dropped, r.err = d.drops(e.raw, r.Object)
	}
}

// look is as that of jsonDecoder.
func (d *protoDecoder) look(e envelope, r *Item, known Known) (decided bool) {
	s := d.selection
	id, ok := protodec.ReadIdentity(e.raw, s != nil && s.byController)
	if !ok || len(id.Name) == 0 || len(id.ResourceVersion) == 0 {
		return s == nil
	}
	if s != nil && !s.keepsBytes(id.Namespace, id.Name, id.UID, jsondec.Owner(id.Controller)) {
		if !isMessage(e.raw) {
			return false
		}
		r.drop(reuse(&d.apiVersion, e.apiVersion), reuse(&d.kind, e.kind), id.Namespace, id.Name, id.ResourceVersion)
		return true
	}
	if known != nil {
		if obj := find(known, id.Name, id.Namespace, id.UID, id.ResourceVersion); obj != nil && isMessage(e.raw) {
			setKnown(obj, r)
		}
	}
	return true
}

// drops reports whether an object that was decoded is not kept.
func (d *protoDecoder) drops(raw []byte, obj object.Object) (bool, error) {
	if !d.codec.dropsOwners(d.selection) {
		return !d.selection.keepsObject(obj), nil
	}
	var meta metav1.PartialObjectMetadata
	if err := unmarshal(raw, &meta); err != nil {
		return false, err
	}
	return !d.selection.keepsObject(&meta), nil
}

func (d *protoDecoder) decode(e envelope, r *Item) {
	if !d.initialized {
		d.initialized, d.fast = true, d.codec.fastProto(d.readOnly)
	}
	r.id = identity{apiVersion: reuse(&d.apiVersion, e.apiVersion), kind: reuse(&d.kind, e.kind)}
	obj, fast, err := d.codec.create()
	if err != nil {
		r.err = err
		return
	}
	if d.fast != nil && fast {
		if d.fast.Decode(e.raw, reflect.ValueOf(obj).UnsafePointer()) {
			r.Object, r.id, r.err = d.codec.identify(obj, r.id, nil)
			return
		}
		if obj, _, err = d.codec.create(); err != nil {
			r.err = err
			return
		}
	}
	if err = d.decodeSlow(e.raw, obj); err == nil {
		d.codec.drop.From(obj)
	}
	r.Object, r.id, r.err = d.codec.identify(obj, r.id, err)
}

func (d *protoDecoder) decodeSlow(raw []byte, obj object.Object) error {
	if d.codec.projection {
		return errUnusualProjection
	}
	return unmarshal(raw, obj.(protoMessage))
}

func unmarshal(raw []byte, to protoMessage) error {
	if err := protowire.CheckDepth(raw); err != nil {
		return malformed(err)
	}
	return malformed(to.Unmarshal(raw))
}

var errUnusualProjection = fmt.Errorf("%w: protobuf: the object is not written as API servers write it", ErrMalformed)

// reuse returns text as a string, reusing an equal last one.
func reuse(last *string, text []byte) string {
	if *last != string(text) {
		*last = string(text)
	}
	return *last
}

func isMessage(msg []byte) bool {
	for len(msg) > 0 {
		var err error
		if _, msg, err = protowire.Next(msg); err != nil {
			return false
		}
	}
	return true
}

// bookmark decodes a bookmark. It looks like an object of the kind, but only its version and
// annotations matter.
func (d *protoDecoder) bookmark(e envelope, r *Item) {
	var meta metav1.ObjectMeta
	for rest := e.raw; len(rest) > 0; {
		f, after, err := protowire.Next(rest)
		if err != nil {
			r.err = malformedWire(err)
			return
		}
		rest = after
		if f.Tag == protowire.Bytes(1) {
			if r.err = malformed(meta.Unmarshal(f.Value)); r.err != nil {
				return
			}
		}
	}
	r.id = identity{apiVersion: string(e.apiVersion), kind: string(e.kind), resourceVersion: meta.ResourceVersion}
	r.InitialEventsEnd = meta.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}
