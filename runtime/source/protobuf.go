// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/binary"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// protoWire reads Kubernetes' protobuf. Every object that stands alone is in an envelope that says its kind:
//
//	list   envelope{ raw: {1: metadata, 2: item, 2: item, …} }
//	watch  length{ 1: type, 2: {1: envelope{ raw: object }} } length{…} …
//	envelope = "k8s\0" {1: {1: apiVersion, 2: kind}, 2: raw}
//
// where a length has four bytes, the highest first.
type protoWire struct {
	c    *codec
	r    byteReader
	end  int64  // of the list being read, 0 outside of one
	buf  []byte // of the value at hand, used again for the next
	head envelope
}

// envelope is what is around an object, and the object.
type envelope struct {
	apiVersion, kind string
	raw              []byte
}

const protoPrefix = "k8s\x00"

func newProtoWire(c *codec, r io.Reader) *protoWire { return &protoWire{c: c, r: newByteReader(r)} }

func (p *protoWire) offset() int64 { return p.r.n }

func (p *protoWire) list(l *listReader) error {
	var err error
	if p.buf, err = p.r.append(p.buf[:0], uint64(len(protoPrefix))); err != nil {
		return err
	}
	if string(p.buf) != protoPrefix {
		return errNoPrefix(p.buf)
	}
	seen := false
	for {
		tag, err := binary.ReadUvarint(&p.r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return streamError(err)
		}
		switch tag {
		case protoBytes(1): // type
			if err = p.next(); err == nil {
				l.apiVersion, l.kind, err = parseTypeMeta(p.buf)
			}
		case protoBytes(2): // raw
			if seen {
				return fmt.Errorf("%w: two lists in one envelope", ErrMalformed)
			}
			seen = true
			err = p.message(l)
		case protoBytes(3): // content encoding
			if err = p.next(); err == nil {
				err = checkEncoding(p.buf)
			}
		default:
			err = p.skip(tag)
		}
		if err != nil {
			return err
		}
	}
}

// message reads a list out of its envelope.
func (p *protoWire) message(l *listReader) error {
	size, err := p.length()
	if err != nil {
		return err
	}
	p.end = p.r.n + int64(min(size, 1<<62))
	defer func() { p.end = 0 }()
	for p.r.n < p.end {
		tag, err := binary.ReadUvarint(&p.r)
		if err != nil {
			return streamError(err)
		}
		switch tag {
		case protoBytes(1):
			var meta metav1.ListMeta
			if err = p.next(); err == nil {
				err = malformed(meta.Unmarshal(p.buf))
			}
			l.meta = listMeta{ResourceVersion: meta.ResourceVersion, Continue: meta.Continue}
		case protoBytes(2):
			if !l.items {
				if err := l.begin(); err != nil {
					return err
				}
			}
			err = l.next(protoItem{p})
		default:
			err = p.skip(tag)
		}
		if err != nil {
			return err
		}
	}
	if p.r.n > p.end {
		return errBeyondList
	}
	return nil
}

var errBeyondList = fmt.Errorf("%w: something in the list goes beyond the end of the list", ErrMalformed)

// protoItem is an item of a list, which has no envelope.
type protoItem struct{ *protoWire }

func (p protoItem) object() (object.Object, identity, error) {
	if err := p.next(); err != nil {
		return nil, identity{}, err
	}
	p.head = envelope{raw: p.buf}
	return p.protoWire.object()
}

func (p *protoWire) event(w *watchReader) (event Event[object.Object], key object.Key, err error) {
	first, err := p.r.ReadByte()
	if err != nil {
		return event, key, err
	}
	event, key, err = p.frame(w, first)
	return event, key, cutOff(err)
}

// frame reads one event, of whose length the first byte has been read.
func (p *protoWire) frame(w *watchReader, first byte) (event Event[object.Object], key object.Key, err error) {
	if p.buf, err = p.r.append(reuse(p.buf), 3); err != nil {
		return event, key, err
	}
	size := uint64(first)<<24 | uint64(p.buf[0])<<16 | uint64(p.buf[1])<<8 | uint64(p.buf[2])
	if size > maxFrame {
		return event, key, fmt.Errorf("%w: an event of %d bytes, more than %d", ErrMalformed, size, maxFrame)
	}
	if p.buf, err = p.r.append(p.buf[:0], size); err != nil {
		return event, key, err
	}
	var typ string
	var about []byte
	for rest := p.buf; len(rest) > 0; {
		var f protoField
		if f, rest, err = nextField(rest); err != nil {
			return event, key, err
		}
		switch f.tag {
		case protoBytes(1):
			typ = string(f.value)
		case protoBytes(2):
			about = f.value
		}
	}
	if err := checkType(typ); err != nil {
		return event, key, err
	}
	var raw []byte
	for len(about) > 0 {
		var f protoField
		if f, about, err = nextField(about); err != nil {
			return event, key, err
		}
		if f.tag == protoBytes(1) {
			raw = f.value
		}
	}
	if raw == nil {
		return event, key, errNoObject(typ)
	}
	if p.head, err = parseEnvelope(raw); err != nil {
		return event, key, err
	}
	return w.content(typ, p)
}

// object implements value.
func (p *protoWire) object() (object.Object, identity, error) {
	id := identity{apiVersion: p.head.apiVersion, kind: p.head.kind}
	obj := p.c.newObject()
	if obj == nil {
		return nil, id, errNoNewObject
	}
	raw := p.head.raw
	var err error
	if !p.c.drop.nothing() {
		raw, err = dropProto(raw, &p.c.drop)
	}
	if err == nil {
		err = malformed(obj.(protoMessage).Unmarshal(raw))
	}
	return p.c.read(obj, id, err)
}

// mark implements value.
func (p *protoWire) mark() (mark, error) {
	var meta metav1.ObjectMeta
	for rest := p.head.raw; len(rest) > 0; {
		var f protoField
		var err error
		if f, rest, err = nextField(rest); err != nil {
			return mark{}, err
		}
		if f.tag == protoBytes(1) {
			if err := malformed(meta.Unmarshal(f.value)); err != nil {
				return mark{}, err
			}
		}
	}
	return mark{
		apiVersion: p.head.apiVersion, kind: p.head.kind, resourceVersion: meta.ResourceVersion,
		initialEventsEnd: meta.Annotations[metav1.InitialEventsAnnotationKey] == "true",
	}, nil
}

// status implements value.
func (p *protoWire) status() (metav1.Status, error) { return p.head.status() }

func (e envelope) status() (status metav1.Status, err error) {
	if e.kind == "Status" {
		err = malformed(status.Unmarshal(e.raw))
	}
	status.APIVersion, status.Kind = e.apiVersion, e.kind
	return status, err
}

// next reads a value with a length before it.
func (p *protoWire) next() error {
	size, err := p.length()
	if err != nil {
		return err
	}
	if p.end > 0 && (int64(min(size, 1<<62)) > p.end-p.r.n) {
		return errBeyondList
	}
	p.buf, err = p.r.append(reuse(p.buf), size)
	return err
}

func (p *protoWire) length() (uint64, error) {
	size, err := binary.ReadUvarint(&p.r)
	return size, streamError(err)
}

// skip passes over the value of a field that nobody knows.
func (p *protoWire) skip(tag uint64) error {
	switch tag & 7 {
	case 0:
		_, err := binary.ReadUvarint(&p.r)
		return streamError(err)
	case 1:
		return p.r.skip(8)
	case 2:
		size, err := p.length()
		if err != nil {
			return err
		}
		return p.r.skip(size)
	case 5:
		return p.r.skip(4)
	}
	return errWireType(tag)
}
