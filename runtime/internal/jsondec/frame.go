// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/binary"
	"math/bits"
)

// Frame finds the end of a JSON value that arrives piece by piece. It looks only at strings and
// nesting: for a valid value the end is right, and decoding finds an invalid one. The zero value is
// ready for a value.
type Frame struct {
	at int // scanned bytes of the value
	scanState
}

type scanState struct {
	depth    int    // of nesting
	inString uint64 // all ones: in a string
	escaped  uint64 // 1: after a backslash that isn't escaped itself
}

// End returns the length of the value at the start of data, without white space before it, or false
// if its end is not in data. The next call must then get the same bytes and more of them, possibly
// at another address. A number or a literal ends before a byte that can't belong to it; at the end
// of data it may go on, so End returns false.
func (f *Frame) End(data []byte) (n int, ok bool) {
	if len(data) == 0 {
		return 0, false
	}
	switch data[0] {
	case '{', '[':
	case '"':
		return f.text(data)
	default:
		return f.scalar(data)
	}
	for ; len(data)-f.at >= blockSize; f.at += blockSize {
		if end := f.block((*[blockSize]byte)(data[f.at:])); end >= 0 {
			return f.at + end, true
		}
	}
	// Bytes that don't fill a block are scanned again with their successors. The zeros after them
	// have no meaning.
	var last [blockSize]byte
	if copy(last[:], data[f.at:]) > 0 {
		s := f.scanState
		if end := s.block(&last); end >= 0 {
			return f.at + end, true
		}
	}
	return 0, false
}

func (f *Frame) text(data []byte) (int, bool) {
	for f.at = max(f.at, 1); f.at < len(data); f.at++ {
		switch c := data[f.at]; {
		case f.escaped != 0:
			f.escaped = 0
		case c == '\\':
			f.escaped = 1
		case c == '"':
			return f.at + 1, true
		}
	}
	return 0, false
}

func (f *Frame) scalar(data []byte) (int, bool) {
	for ; f.at < len(data); f.at++ {
		switch data[f.at] {
		case ',', ']', '}', ':', ' ', '\t', '\n', '\r':
			return f.at, true
		}
	}
	return 0, false
}

func valueEnd(in []byte, i int) int {
	var f Frame
	if n, ok := f.End(in[i:]); ok {
		return i + n
	}
	return -1
}

// skipLoosely is skip without validating the content of an object or an array.
func skipLoosely(in []byte, i int) int {
	if i = skipSpace(in, i); i < len(in) && (in[i] == '{' || in[i] == '[') {
		return valueEnd(in, i)
	}
	return skip(in, i)
}

const blockSize = 64

// block scans a block, and returns the index in it after the end of the value, or -1. Each byte
// becomes a bit in four words, one for each relevant kind of byte. A byte is in a string if the
// number of quotes before it is odd.
func (s *scanState) block(b *[blockSize]byte) int {
	var quote, open, closing, slash uint64
	for k := 0; k < blockSize; k += 16 {
		low, high := binary.LittleEndian.Uint64(b[k:]), binary.LittleEndian.Uint64(b[k+8:])
		quote |= (zeros(low^quotes) | zeros(high^quotes)<<8) << k
		open0, closing0 := brackets(low)
		open1, closing1 := brackets(high)
		open |= (gather(open0) | gather(open1)<<8) << k
		closing |= (gather(closing0) | gather(closing1)<<8) << k
		slash |= ((low^slashes)-ones)&^(low^slashes) | ((high^slashes)-ones)&^(high^slashes)
	}
	slash &= highs
	if slash != 0 || s.escaped != 0 {
		quote &^= s.escapes(b)
	}
	inString := prefixXor(quote) ^ s.inString
	s.inString = uint64(int64(inString) >> 63)
	open, closing = open&^inString, closing&^inString
	if ends := bits.OnesCount64(closing); s.depth > ends {
		s.depth += bits.OnesCount64(open) - ends
		return -1
	}
	for closing != 0 {
		// The innermost value may end here.
		end := closing & -closing
		s.depth += bits.OnesCount64(open & (end - 1))
		open &^= end - 1
		if s.depth--; s.depth <= 0 {
			return bits.TrailingZeros64(end) + 1
		}
		closing &^= end
	}
	s.depth += bits.OnesCount64(open)
	return -1
}

// brackets returns bits for those of eight bytes that open and close objects and arrays. Outside of
// strings, brackets are the only bytes of JSON with the bits 3, 4 and 6; of these, opening brackets
// have bit 1 and closing ones don't.
func brackets(w uint64) (open, closing uint64) {
	bracket := w >> 3 & (w >> 4) & (w >> 6) & ones
	open = bracket & (w >> 1)
	return open, bracket ^ open
}

// zeros returns a byte with a bit for each zero among eight bytes.
func zeros(w uint64) uint64 { return (^((w | highs) - ones | w) & highs) * 0x0002040810204081 >> 56 }

func (s *scanState) escapes(b *[blockSize]byte) uint64 {
	var slash uint64
	for k := 0; k < blockSize; k += 8 {
		slash |= zeros(binary.LittleEndian.Uint64(b[k:])^slashes) << k
	}
	escaped := s.escaped
	s.escaped = 0
	for slash &^= escaped; slash != 0; {
		first := slash & -slash
		if first == 1<<63 {
			s.escaped = 1
		}
		escaped |= first << 1
		slash &^= first | first<<1
	}
	return escaped
}

// gather makes a byte of the lowest bits of eight bytes.
func gather(w uint64) uint64 { return w * 0x0102040810204080 >> 56 }

// prefixXor sets each bit to the parity of the bits up to and including it.
func prefixXor(w uint64) uint64 {
	w ^= w << 1
	w ^= w << 2
	w ^= w << 4
	w ^= w << 8
	w ^= w << 16
	return w ^ w<<32
}
