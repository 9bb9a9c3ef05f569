// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"fmt"
)

// The major types of CBOR.
const (
	cborUint byte = iota
	cborNegative
	cborBytes
	cborText
	cborArray
	cborMap
	cborTag
	cborSimple
)

const (
	cborBreak    = 0xff
	cborMaxDepth = 10000 // of nested items, tags included; apimachinery's limit
)

var errCBORDepth = fmt.Errorf("%w: CBOR is nested more than %d deep", ErrMalformed, cborMaxDepth)

// cborHead is the beginning of a data item.
type cborHead struct {
	major      byte
	arg        uint64 // a length, a number of elements, a tag, a value
	indefinite bool   // ends with a break
	size       int    // of the head
}

func (h cborHead) isNull() bool  { return h.major == cborSimple && h.size == 1 && h.arg == 22 }
func (h cborHead) isBreak() bool { return h.major == cborSimple && h.indefinite }

// String names the major type.
func (h cborHead) String() string {
	return [...]string{"integer", "integer", "byte string", "text", "array", "map", "tag", "simple value"}[h.major]
}

// argSize returns the number of bytes after an initial byte, or -1 if the byte is not well-formed.
func argSize(initial byte) int {
	switch info := initial & 31; {
	case info < 24:
		return 0
	case info < 28:
		return 1 << (info - 24)
	case info < 31:
		return -1
	}
	if major := initial >> 5; major >= cborBytes && major <= cborMap || major == cborSimple {
		return 0
	}
	return -1
}

// parseHead reads a head from its bytes.
func parseHead(initial byte, arg []byte) cborHead {
	h := cborHead{major: initial >> 5, indefinite: initial&31 == 31, size: 1 + len(arg)}
	switch len(arg) {
	case 0:
		h.arg = uint64(initial & 31)
	case 1:
		h.arg = uint64(arg[0])
	case 2:
		h.arg = uint64(binary.BigEndian.Uint16(arg))
	case 4:
		h.arg = uint64(binary.BigEndian.Uint32(arg))
	case 8:
		h.arg = binary.BigEndian.Uint64(arg)
	}
	return h
}

// headOf reads the head that data begins with. ok is false if more bytes are needed.
func headOf(data []byte) (h cborHead, ok bool, err error) {
	if len(data) == 0 {
		return h, false, nil
	}
	size := argSize(data[0])
	if size < 0 {
		return h, false, fmt.Errorf("%w: a CBOR item can't begin with the byte %#x", ErrMalformed, data[0])
	}
	if len(data) < 1+size {
		return h, false, nil
	}
	return parseHead(data[0], data[1:1+size]), true, nil
}

// cborFrame finds the end of a data item that arrives piece by piece. The zero value is ready for
// an item.
type cborFrame struct {
	at   int // bytes that have been scanned
	open []cborOpen
	tags int // tags before the next item
}

// cborOpen is an item whose elements are being scanned.
type cborOpen struct {
	head    cborHead
	missing uint64 // elements that are still to come, of a definite length
	odd     bool   // a value comes next, in a map of indefinite length
}

// end returns the length of the item that data begins with. ok is false if more bytes are needed;
// the next call must then get the same bytes and more of them.
func (f *cborFrame) end(data []byte) (n int, ok bool, err error) {
	for {
		h, ok, err := headOf(data[f.at:])
		if !ok || err != nil {
			return 0, false, err
		}
		size := h.size
		whole := true
		switch top := f.top(); {
		case h.isBreak():
			if top == nil {
				return 0, false, fmt.Errorf("%w: a CBOR break outside of anything", ErrMalformed)
			}
			if !top.head.indefinite || top.odd {
				return 0, false, fmt.Errorf("%w: a CBOR break in the middle of a %v", ErrMalformed, top.head)
			}
			f.open = f.open[:len(f.open)-1]
		case top != nil && (top.head.major == cborBytes || top.head.major == cborText) && (h.major != top.head.major || h.indefinite):
			return 0, false, fmt.Errorf("%w: a CBOR %v in the middle of a %v", ErrMalformed, h, top.head)
		case h.major == cborTag:
			if f.tags++; len(f.open)+f.tags > cborMaxDepth {
				return 0, false, errCBORDepth
			}
			f.at += size
			continue
		case (h.major == cborBytes || h.major == cborText) && !h.indefinite:
			if err := checkSize(h.arg); err != nil {
				return 0, false, err
			}
			if size += int(h.arg); len(data)-f.at < size {
				return 0, false, nil
			}
		case h.major >= cborBytes && h.major <= cborMap:
			if h.major == cborMap && h.arg > maxItem {
				return 0, false, fmt.Errorf("%w: a CBOR map of %d entries", ErrMalformed, h.arg)
			}
			missing := h.arg
			if h.major == cborMap {
				missing *= 2
			}
			if h.indefinite || missing > 0 {
				if len(f.open) >= cborMaxDepth {
					return 0, false, errCBORDepth
				}
				f.open = append(f.open, cborOpen{head: h, missing: missing})
				whole = false
			}
		}
		f.at += size
		f.tags = 0
		if whole && f.close() {
			return f.at, true, nil
		}
	}
}

func (f *cborFrame) top() *cborOpen {
	if len(f.open) == 0 {
		return nil
	}
	return &f.open[len(f.open)-1]
}

// close ends an item and every open item whose last element it is. It reports whether no item is
// open any more.
func (f *cborFrame) close() bool {
	for len(f.open) > 0 {
		top := f.top()
		if top.head.indefinite {
			top.odd = top.head.major == cborMap && !top.odd
			return false
		}
		if top.missing--; top.missing > 0 {
			return false
		}
		f.open = f.open[:len(f.open)-1]
	}
	return true
}

// reset prepares f for another item.
func (f *cborFrame) reset() { f.at, f.open, f.tags = 0, f.open[:0], 0 }

// head reads the head of an item. It returns io.EOF only at the end of the stream.
func (c *cborFormat) head() (cborHead, error) {
	for size := 1; ; size++ {
		if err := c.f.need(size); err != nil {
			return cborHead{}, err
		}
		h, ok, err := headOf(c.f.data())
		if ok {
			c.f.pos += h.size
		}
		if ok || err != nil {
			return h, err
		}
	}
}

// value reads the head of the next item, and the tags before it. It returns io.EOF only at the end
// of the stream.
func (c *cborFormat) value() (cborHead, error) {
	for n := 0; ; n++ {
		h, err := c.head()
		if n > 0 {
			err = cutOff(err)
		}
		switch {
		case err != nil || h.major != cborTag:
			return h, err
		case n == cborMaxDepth:
			return h, errCBORDepth
		}
	}
}

// members reads a map whose head is h. It calls member after each name; member must read the value.
func (c *cborFormat) members(h cborHead, what string, member func(name string) error) error {
	if h.major != cborMap {
		return fmt.Errorf("%w: %s is a CBOR %v, want a map", ErrMalformed, what, h)
	}
	for n := uint64(0); h.indefinite || n < h.arg; n++ {
		if h.indefinite {
			if done, err := c.skipBreak(); done || err != nil {
				return err
			}
		}
		name, err := c.text("a name")
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	return nil
}

// skipBreak reports whether the next byte is a break, which ends an item of indefinite length, and
// skips it if so.
func (c *cborFormat) skipBreak() (bool, error) {
	if err := c.f.need(1); err != nil {
		return false, cutOff(err)
	}
	if c.f.data()[0] != cborBreak {
		return false, nil
	}
	c.f.pos++
	return true, nil
}

// text reads a text or byte string, or null as "".
func (c *cborFormat) text(what string) (string, error) {
	h, err := c.value()
	if err != nil {
		return "", cutOff(err)
	}
	if h.isNull() {
		return "", nil
	}
	if h.major != cborBytes && h.major != cborText {
		return "", fmt.Errorf("%w: %s is a CBOR %v, want a text", ErrMalformed, what, h)
	}
	if !h.indefinite {
		return c.piece(h)
	}
	var text []byte
	for {
		chunk, err := c.head()
		if err != nil {
			return "", cutOff(err)
		}
		if chunk.isBreak() {
			return string(text), nil
		}
		if chunk.major != h.major || chunk.indefinite {
			return "", fmt.Errorf("%w: a CBOR %v in the middle of a %v", ErrMalformed, chunk, h)
		}
		piece, err := c.piece(chunk)
		if err != nil {
			return "", err
		}
		text = append(text, piece...)
	}
}

// piece reads the bytes after the head of a string of definite length.
func (c *cborFormat) piece(h cborHead) (string, error) {
	if err := checkSize(h.arg); err != nil {
		return "", err
	}
	if err := c.f.need(int(h.arg)); err != nil {
		return "", cutOff(err)
	}
	text := string(c.f.data()[:h.arg])
	c.f.pos += int(h.arg)
	return text, nil
}

// next reads a whole item.
func (c *cborFormat) next() ([]byte, error) {
	c.frame.reset()
	for {
		data := c.f.data()
		n, ok, err := c.frame.end(data)
		if ok {
			c.f.pos += n
			return data[:n], nil
		}
		if err == nil {
			err = c.f.more()
		}
		if err != nil {
			return nil, cutOff(err)
		}
	}
}
