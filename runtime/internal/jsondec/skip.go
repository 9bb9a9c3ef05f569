// SPDX-License-Identifier: Apache-2.0

package jsondec

// Skip returns the length of the JSON value that input begins with. ok is false if the value is not
// valid, not whole, or nested very deeply. Bytes after the value are not checked, except after a
// number: it must be followed by a byte that ends it, or by the end of input.
func Skip(input []byte) (n int, ok bool) {
	n = skip(input, skipSpace(input, 0))
	return n, n >= 0
}

// skip returns the index after the value at in[i], or -1.
func skip(in []byte, i int) int {
	var nesting nesting
	for {
		// A value begins at i.
		if i >= len(in) {
			return -1
		}
		switch c := in[i]; c {
		case '"':
			i, _ = stringEnd(in, i+1)
		case '{':
			if !nesting.open(true) {
				return -1
			}
			i++
			if i < len(in) && in[i] != '"' {
				i = skipSpace(in, i)
			}
			if i < len(in) && in[i] == '}' {
				break
			}
			if i = skipName(in, i); i < 0 {
				return -1
			}
			continue
		case '[':
			if !nesting.open(false) {
				return -1
			}
			i = skipSpace(in, i+1)
			if i < len(in) && in[i] == ']' {
				break
			}
			continue
		case 't':
			i = literalEnd(in, i, "true")
		case 'f':
			i = literalEnd(in, i, "false")
		case 'n':
			i = literalEnd(in, i, "null")
		case ' ', '\t', '\n', '\r':
			i = skipSpace(in, i)
			continue
		default:
			i, _ = numberEnd(in, i)
		}
		if i < 0 {
			return -1
		}
		// A value has ended at i, or an empty object or array is about to end there.
		for {
			if nesting.depth == 0 {
				return i
			}
			if i >= len(in) {
				return -1
			}
			c := in[i]
			if c <= ' ' {
				i = skipSpace(in, i)
				if i >= len(in) {
					return -1
				}
				c = in[i]
			}
			i++
			if c == ',' {
				if !nesting.object() {
					break
				}
				if i = skipName(in, i); i < 0 {
					return -1
				}
				break
			}
			if c != '}' && c != ']' || nesting.object() != (c == '}') {
				return -1
			}
			nesting.depth--
		}
	}
}

// skipName returns the index after the name and colon of the member at in[i], or -1.
func skipName(in []byte, i int) int {
	if i < len(in) && in[i] <= ' ' {
		i = skipSpace(in, i)
	}
	if i >= len(in) || in[i] != '"' {
		return -1
	}
	if i, _ = stringEnd(in, i+1); i < 0 {
		return -1
	}
	if i < len(in) && in[i] <= ' ' {
		i = skipSpace(in, i)
	}
	if i >= len(in) || in[i] != ':' {
		return -1
	}
	return i + 1
}

// maxDepth is how deep accepted values may be nested.
const maxDepth = 512

// nesting records for each open value whether it is an object or an array.
type nesting struct {
	depth   int
	objects [maxDepth / 64]uint64
}

func (n *nesting) open(object bool) bool {
	if n.depth == maxDepth {
		return false
	}
	word, bit := n.depth/64, uint64(1)<<(n.depth%64)
	if object {
		n.objects[word] |= bit
	} else {
		n.objects[word] &^= bit
	}
	n.depth++
	return true
}

// object reports whether the innermost open value is an object. A value must be open.
func (n *nesting) object() bool {
	at := n.depth - 1
	return n.objects[at/64]>>(at%64)&1 != 0
}
