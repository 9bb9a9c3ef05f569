// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
)

// protoFormat reads Kubernetes' protobuf. Every object outside of a list is in an envelope with its
// kind:
//
//	list   envelope{ raw: {1: metadata, 2: item, 2: item, …} }
//	watch  length{ 1: type, 2: {1: envelope{ raw: object }} } length{…} …
//	envelope = "k8s\0" {1: {1: apiVersion, 2: kind}, 2: raw}
//
// where a length has four bytes, the highest first.
type protoFormat struct {
	stream *Stream
	feed   *feed
	end    int64 // end of the current list in the response; 0 outside of one
}

func newProtoFormat(s *Stream) formatReader { return &protoFormat{stream: s, feed: s.feed} }

func (p *protoFormat) list(l *listReader) error {
	if err := p.feed.need(len(protoPrefix)); err != nil {
		return unexpectedEOF(err)
	}
	if prefix := p.feed.data()[:len(protoPrefix)]; string(prefix) != protoPrefix {
		return errNoPrefix(prefix)
	}
	p.feed.pos += len(protoPrefix)
	seen := false
	for {
		tag, err := p.uvarint()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var value []byte
		switch tag {
		case protowire.Bytes(1): // type
			if value, err = p.value(); err == nil {
				var apiVersion, kind []byte
				apiVersion, kind, err = parseTypeMeta(value)
				l.apiVersion, l.kind = string(apiVersion), string(kind)
			}
		case protowire.Bytes(2): // raw
			if seen {
				return fmt.Errorf("%w: two lists in one envelope", ErrMalformed)
			}
			seen = true
			err = p.message(l)
		case protowire.Bytes(3): // content encoding
			if value, err = p.value(); err == nil {
				err = checkEncoding(value)
			}
		default:
			err = p.skip(tag)
		}
		if err != nil {
			return err
		}
	}
}

func (p *protoFormat) message(l *listReader) error {
	size, err := p.length()
	if err != nil {
		return err
	}
	p.end = p.feed.offset() + int64(min(size, 1<<62))
	defer func() { p.end = 0 }()
	for p.feed.offset() < p.end {
		if err := p.feed.need(1); err != nil {
			return unexpectedEOF(err)
		}
		if p.feed.data()[0] == byte(protowire.Bytes(2)) {
			if !l.hasItems {
				if err := l.begin(); err != nil {
					return err
				}
			}
			if err := l.stream.run(protoItems{p}, decoder.item, l.take); err != nil {
				return err
			}
			continue
		}
		tag, err := p.uvarint()
		if err != nil {
			return unexpectedEOF(err)
		}
		if tag == protowire.Bytes(1) {
			var value []byte
			if value, err = p.value(); err == nil {
				l.meta, err = protoListMeta(value)
			}
		} else {
			err = p.skip(tag)
		}
		if err != nil {
			return err
		}
	}
	if p.feed.offset() > p.end {
		return errBeyondList
	}
	return nil
}

var errBeyondList = fmt.Errorf("%w: a field of the list extends beyond the end of the list", ErrMalformed)

type protoItems struct{ format *protoFormat }

func (p protoItems) scan() step {
	data := p.format.feed.data()
	left := p.format.end - p.format.feed.offset()
	switch {
	case left <= 0:
		return step{result: stepEnd}
	case len(data) == 0:
		return step{}
	case data[0] != byte(protowire.Bytes(2)):
		return step{result: stepEnd}
	}
	size, n := binary.Uvarint(data[1:])
	switch n++; {
	case n == 1:
		return step{}
	case n < 1:
		return p.format.failure(errNumber)
	case int64(min(size, 1<<62)) > left-int64(n):
		return p.format.failure(errBeyondList)
	}
	if err := checkSize(size); err != nil {
		return p.format.failure(err)
	}
	return p.format.item(n, int(size))
}

func (p protoItems) broken(err error) step { return p.format.failure(unexpectedEOF(err)) }

func (p *protoFormat) events() scanner { return protoEvents{p} }

type protoEvents struct{ format *protoFormat }

func (p protoEvents) scan() step {
	data := p.format.feed.data()
	if len(data) < 4 {
		return step{}
	}
	size := binary.BigEndian.Uint32(data)
	if err := checkSize(uint64(size)); err != nil {
		return p.format.failure(err)
	}
	return p.format.item(4, int(size))
}

func (p protoEvents) broken(err error) step {
	if len(p.format.feed.data()) == 0 && err == io.EOF {
		return step{result: stepEnd}
	}
	return p.format.failure(unexpectedEOF(err))
}

// item advances past a value with a head of n bytes and the given size, if all of it has arrived.
func (p *protoFormat) item(n, size int) step {
	f := p.feed
	if len(f.data()) < n+size {
		return step{}
	}
	st := step{result: stepItem, start: f.pos + n, end: f.pos + n + size}
	f.pos = st.end
	f.itemEnded(size)
	return st
}

func (p *protoFormat) failure(err error) step {
	return step{result: stepFailed, inItem: true, err: err, offset: p.feed.base + int64(p.feed.end)}
}

func (p *protoFormat) value() ([]byte, error) {
	size, err := p.length()
	if err != nil {
		return nil, err
	}
	if p.end > 0 && int64(min(size, 1<<62)) > p.end-p.feed.offset() {
		return nil, errBeyondList
	}
	if err := checkSize(size); err != nil {
		return nil, err
	}
	if err := p.feed.need(int(size)); err != nil {
		return nil, unexpectedEOF(err)
	}
	value := p.feed.data()[:size]
	p.feed.pos += int(size)
	return value, nil
}

func (p *protoFormat) length() (uint64, error) {
	size, err := p.uvarint()
	return size, unexpectedEOF(err)
}

// uvarint reads a number. It returns io.EOF only at the end of the stream.
func (p *protoFormat) uvarint() (uint64, error) {
	for size := 1; ; size++ {
		if err := p.feed.need(size); err != nil {
			return 0, err
		}
		v, n := binary.Uvarint(p.feed.data())
		if n > 0 {
			p.feed.pos += n
			return v, nil
		}
		if n < 0 {
			return 0, errNumber
		}
	}
}

var errNumber = fmt.Errorf("%w: protobuf: a number of more than 64 bits", ErrMalformed)

func (p *protoFormat) skip(tag uint64) error {
	size := uint64(0)
	err := malformedWire(protowire.CheckNumber(tag))
	if err != nil {
		return err
	}
	switch tag & 7 {
	case 0:
		_, err = p.length()
	case 1:
		size = 8
	case 2:
		size, err = p.length()
	case 5:
		size = 4
	default:
		err = malformedWire(protowire.WireTypeError(tag))
	}
	for err == nil && size > 0 {
		if err = p.feed.need(1); err == nil {
			n := min(size, uint64(len(p.feed.data())))
			p.feed.pos += int(n)
			size -= n
		}
	}
	return unexpectedEOF(err)
}
