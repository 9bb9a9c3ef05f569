// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Words of eight equal bytes. Eight bytes of the input are looked at together in a uint64, the
// first one lowest.
const (
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
	quotes  = '"' * ones
	slashes = '\\' * ones
	spaces  = ' ' * ones
)

// plainEnd returns the index of the first special byte of a string from i on: a quote, a backslash,
// a control character, a byte of a rune beyond ASCII; or the end of the input.
func plainEnd(in []byte, i int) int {
	for ; i+8 <= len(in); i += 8 {
		w := binary.LittleEndian.Uint64(in[i:])
		// A special byte of w is 0 in w^quotes or w^slashes, or less than a space, or has its high
		// bit set. Subtracting sets the high bit of the lowest such byte; the borrow from bytes
		// above doesn't matter, as only the lowest counts.
		if m := (((w ^ quotes) - ones) | ((w ^ slashes) - ones) | (w - spaces) | w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(in); i++ {
		if c := in[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// stringEnd returns the index after the closing quote of a string, or -1 if the string isn't valid
// or doesn't end. plain is false if there are escapes.
func stringEnd(in []byte, i int) (end int, plain bool) {
	i = plainEnd(in, i)
	if i < len(in) && in[i] == '"' {
		return i + 1, true
	}
	return specialEnd(in, i)
}

func specialEnd(in []byte, i int) (end int, plain bool) {
	plain = true
	for i < len(in) {
		switch c := in[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			plain = false
			n := escapeLen(in[i:])
			if n == 0 {
				return -1, false
			}
			i += n
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(in[i:])
			if r == utf8.RuneError && n == 1 {
				return -1, false
			}
			i += n
		case c < ' ':
			return -1, false
		default:
			i = plainEnd(in, i)
		}
	}
	return -1, false
}

// escapeLen returns the length of the escape sequence at the start of in, or 0 if it is invalid.
func escapeLen(in []byte) int {
	if len(in) < 2 {
		return 0
	}
	switch in[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(in[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the number in four hexadecimal digits at the start of in, or -1.
func hex4(in []byte) rune {
	if len(in) < 4 {
		return -1
	}
	var r rune
	for _, c := range in[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func skipSpace(in []byte, i int) int {
	for i < len(in) {
		switch in[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// next returns the index after the comma or the closing bracket at in[i], after optional white
// space, and whether it was the comma. The index is -1 if it is neither.
func next(in []byte, i int, closing byte) (after int, more bool) {
	if i < len(in) && in[i] <= ' ' {
		i = skipSpace(in, i)
	}
	if i < len(in) {
		switch in[i] {
		case ',':
			return i + 1, true
		case closing:
			return i + 1, false
		}
	}
	return -1, false
}

func literalEnd(in []byte, i int, literal string) int {
	if end := i + len(literal); end <= len(in) && string(in[i:end]) == literal {
		return end
	}
	return -1
}

// numberEnd returns the index after the number at in[i], or -1. isInteger reports a number without
// fraction and exponent.
func numberEnd(in []byte, i int) (end int, isInteger bool) {
	if i < len(in) && in[i] == '-' {
		i++
	}
	if i >= len(in) {
		return -1, false
	}
	if in[i] == '0' {
		i++
	} else if i, isInteger = digitsEnd(in, i); !isInteger {
		return -1, false
	}
	isInteger = true
	if i < len(in) && in[i] == '.' {
		ok := false
		if i, ok = digitsEnd(in, i+1); !ok {
			return -1, false
		}
		isInteger = false
	}
	if i < len(in) && in[i]|0x20 == 'e' {
		i++
		if i < len(in) && (in[i] == '+' || in[i] == '-') {
			i++
		}
		ok := false
		if i, ok = digitsEnd(in, i); !ok {
			return -1, false
		}
		isInteger = false
	}
	return i, isInteger
}

func digitsEnd(in []byte, i int) (int, bool) {
	from := i
	for i < len(in) && in[i]-'0' < 10 {
		i++
	}
	return i, i > from
}

// integer reads a number of up to 18 digits without fraction and exponent. end is -1 for any other.
func integer(in []byte, i int) (n int64, end int) {
	negative := i < len(in) && in[i] == '-'
	if negative {
		i++
	}
	from := i
	for ; i < len(in); i++ {
		c := in[i] - '0'
		if c > 9 {
			break
		}
		n = n*10 + int64(c)
	}
	if d := i - from; d == 0 || d > 18 || d > 1 && in[from] == '0' {
		return 0, -1
	}
	if negative {
		n = -n
	}
	return n, i
}
