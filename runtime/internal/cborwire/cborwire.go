// SPDX-License-Identifier: Apache-2.0

// Package cborwire finds where data items of CBOR (RFC 8949) end, and removes parts of them. It
// decodes nothing.
package cborwire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The major types of CBOR.
const (
	Uint byte = iota
	Negative
	Bytes
	Text
	Array
	Map
	Tag
	Simple
)

// Break is the byte that ends an item of indefinite length.
const Break = 0xff

// MaxDepth is how deep items may be nested, tags included. It is apimachinery's limit.
const MaxDepth = 10000

// ErrDepth is the error of items that are nested deeper.
var ErrDepth = fmt.Errorf("CBOR is nested more than %d deep", MaxDepth)

// Head is the beginning of a data item.
type Head struct {
	Major      byte
	Arg        uint64 // a length, a number of elements, a tag, a value
	Indefinite bool   // ends with a break
	Size       int    // of the head
}

// IsNull reports whether the item is null.
func (h Head) IsNull() bool { return h.Major == Simple && h.Size == 1 && h.Arg == 22 }

// IsBreak reports whether the head is a break.
func (h Head) IsBreak() bool { return h.Major == Simple && h.Indefinite }

// String names the major type.
func (h Head) String() string {
	return [...]string{"integer", "integer", "byte string", "text", "array", "map", "tag", "simple value"}[h.Major]
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
	if major := initial >> 5; major >= Bytes && major <= Map || major == Simple {
		return 0
	}
	return -1
}

// parseHead reads a head from its bytes.
func parseHead(initial byte, arg []byte) Head {
	h := Head{Major: initial >> 5, Indefinite: initial&31 == 31, Size: 1 + len(arg)}
	switch len(arg) {
	case 0:
		h.Arg = uint64(initial & 31)
	case 1:
		h.Arg = uint64(arg[0])
	case 2:
		h.Arg = uint64(binary.BigEndian.Uint16(arg))
	case 4:
		h.Arg = uint64(binary.BigEndian.Uint32(arg))
	case 8:
		h.Arg = binary.BigEndian.Uint64(arg)
	}
	return h
}

// HeadOf reads the head that data begins with. ok is false if more bytes are needed.
func HeadOf(data []byte) (h Head, ok bool, err error) {
	if len(data) == 0 {
		return h, false, nil
	}
	size := argSize(data[0])
	if size < 0 {
		return h, false, fmt.Errorf("a CBOR item can't begin with the byte %#x", data[0])
	}
	if len(data) < 1+size {
		return h, false, nil
	}
	return parseHead(data[0], data[1:1+size]), true, nil
}

// Frame finds the end of a data item that arrives piece by piece. The zero value is ready for an
// item.
type Frame struct {
	at   int // bytes that have been scanned
	open []openItem
	tags int // tags before the next item
}

// openItem is an item whose elements are being scanned.
type openItem struct {
	head    Head
	missing uint64 // elements that are still to come, of a definite length
	odd     bool   // a value comes next, in a map of indefinite length
}

// End returns the length of the item that data begins with. ok is false if more bytes are needed;
// the next call must then get the same bytes and more of them. A string of more than limit bytes is
// an error, and so is a map of more than limit entries.
func (f *Frame) End(data []byte, limit uint64) (n int, ok bool, err error) {
	for {
		h, ok, err := HeadOf(data[f.at:])
		if !ok || err != nil {
			return 0, false, err
		}
		size := h.Size
		whole := true
		switch top := f.top(); {
		case h.IsBreak():
			if top == nil {
				return 0, false, errors.New("a CBOR break outside of anything")
			}
			if !top.head.Indefinite || top.odd {
				return 0, false, fmt.Errorf("a CBOR break in the middle of a %v", top.head)
			}
			f.open = f.open[:len(f.open)-1]
		case top != nil && (top.head.Major == Bytes || top.head.Major == Text) && (h.Major != top.head.Major || h.Indefinite):
			return 0, false, fmt.Errorf("a CBOR %v in the middle of a %v", h, top.head)
		case h.Major == Tag:
			if f.tags++; len(f.open)+f.tags > MaxDepth {
				return 0, false, ErrDepth
			}
			f.at += size
			continue
		case (h.Major == Bytes || h.Major == Text) && !h.Indefinite:
			if h.Arg > limit {
				return 0, false, fmt.Errorf("%d bytes in one piece, more than %d", h.Arg, limit)
			}
			if size += int(h.Arg); len(data)-f.at < size {
				return 0, false, nil
			}
		case h.Major >= Bytes && h.Major <= Map:
			if h.Major == Map && h.Arg > limit {
				return 0, false, fmt.Errorf("a CBOR map of %d entries", h.Arg)
			}
			missing := h.Arg
			if h.Major == Map {
				missing *= 2
			}
			if h.Indefinite || missing > 0 {
				if len(f.open) >= MaxDepth {
					return 0, false, ErrDepth
				}
				f.open = append(f.open, openItem{head: h, missing: missing})
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

func (f *Frame) top() *openItem {
	if len(f.open) == 0 {
		return nil
	}
	return &f.open[len(f.open)-1]
}

// close ends an item and every open item whose last element it is. It reports whether no item is
// open any more.
func (f *Frame) close() bool {
	for len(f.open) > 0 {
		top := f.top()
		if top.head.Indefinite {
			top.odd = top.head.Major == Map && !top.odd
			return false
		}
		if top.missing--; top.missing > 0 {
			return false
		}
		f.open = f.open[:len(f.open)-1]
	}
	return true
}

// Reset prepares f for another item.
func (f *Frame) Reset() { f.at, f.open, f.tags = 0, f.open[:0], 0 }
