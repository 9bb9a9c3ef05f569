// SPDX-License-Identifier: Apache-2.0

package source

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
	cborMaxDepth = 10000 // as apimachinery has it
)

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

// argSize is the number of bytes after an initial byte, -1 if it is not well-formed.
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

// head reads the head of an item to the end of dst. It returns io.EOF at the end of the stream only.
func (c *cborWire) head(dst []byte) (cborHead, []byte, error) {
	initial, err := c.r.ReadByte()
	if err != nil {
		return cborHead{}, dst, err
	}
	dst = append(dst, initial)
	size := argSize(initial)
	if size < 0 {
		return cborHead{}, dst, fmt.Errorf("%w: a CBOR item can't begin with the byte %#x", ErrMalformed, initial)
	}
	at := len(dst)
	if size > 0 {
		if dst, err = c.r.append(dst, uint64(size)); err != nil {
			return cborHead{}, dst, err
		}
	}
	return parseHead(initial, dst[at:]), dst, nil
}

// value reads the head of the next item, and the tags before it. It returns io.EOF at the end of the stream only.
func (c *cborWire) value() (cborHead, error) {
	for n := 0; ; n++ {
		h, buf, err := c.head(c.buf[:0])
		c.buf = buf
		if n > 0 {
			err = cutOff(err)
		}
		if err != nil || h.major != cborTag {
			return h, err
		}
	}
}

// members reads a map whose head is h, and calls member when it has read a name and its value comes next.
func (c *cborWire) members(h cborHead, what string, member func(name string) error) error {
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

// skipBreak reports whether the next byte is the end of something of indefinite length, and reads it if so.
func (c *cborWire) skipBreak() (bool, error) {
	b, err := c.r.r.Peek(1)
	if err != nil {
		return false, cutOff(err)
	}
	if b[0] != cborBreak {
		return false, nil
	}
	_, err = c.r.ReadByte()
	return true, err
}

// text reads a string, which may be one of bytes, or null as "".
func (c *cborWire) text(what string) (string, error) {
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
	if c.buf, err = c.string(c.buf[:0], h, true); err != nil {
		return "", err
	}
	return string(c.buf), nil
}

// string reads what follows the head of a string; of one of indefinite length without the heads, if plain.
func (c *cborWire) string(dst []byte, h cborHead, plain bool) ([]byte, error) {
	if !h.indefinite {
		return c.r.append(dst, h.arg)
	}
	for {
		at := len(dst)
		chunk, next, err := c.head(dst)
		dst = next
		if err != nil {
			return dst, cutOff(err)
		}
		if plain {
			dst = dst[:at]
		}
		if chunk.isBreak() {
			return dst, nil
		}
		if chunk.major != h.major || chunk.indefinite {
			return dst, fmt.Errorf("%w: a CBOR %v in the middle of a %v", ErrMalformed, chunk, h)
		}
		if dst, err = c.r.append(dst, chunk.arg); err != nil {
			return dst, err
		}
	}
}

// next reads a whole item into buf, whose content it replaces.
func (c *cborWire) next(buf []byte) ([]byte, error) {
	buf, ended, err := c.appendItem(reuse(buf), 0)
	if err == nil && ended {
		err = fmt.Errorf("%w: a CBOR break outside of anything", ErrMalformed)
	}
	return buf, cutOff(err)
}

// appendItem reads a whole item to the end of dst, or a break, for which it returns true.
func (c *cborWire) appendItem(dst []byte, depth int) ([]byte, bool, error) {
	if depth > cborMaxDepth {
		return dst, false, fmt.Errorf("%w: CBOR is nested more than %d deep", ErrMalformed, cborMaxDepth)
	}
	h, dst, err := c.head(dst)
	if err != nil {
		return dst, false, err
	}
	elements := uint64(0)
	switch h.major {
	case cborBytes, cborText:
		dst, err = c.string(dst, h, false)
		return dst, false, err
	case cborArray:
		elements = h.arg
	case cborMap:
		if h.arg > maxItem {
			return dst, false, fmt.Errorf("%w: a CBOR map of %d entries", ErrMalformed, h.arg)
		}
		elements = 2 * h.arg
	case cborTag:
		elements = 1
	case cborSimple:
		return dst, h.indefinite, nil
	}
	for n := uint64(0); h.indefinite || n < elements; n++ {
		var ended bool
		if dst, ended, err = c.appendItem(dst, depth+1); err != nil {
			return dst, false, cutOff(err)
		}
		if !ended {
			continue
		}
		if !h.indefinite || h.major == cborMap && n%2 == 1 {
			return dst, false, fmt.Errorf("%w: a CBOR break in the middle of a %v", ErrMalformed, h)
		}
		return dst, false, nil
	}
	return dst, false, nil
}
