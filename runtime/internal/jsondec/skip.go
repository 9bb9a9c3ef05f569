// SPDX-License-Identifier: Apache-2.0

package jsondec

// Skip returns the length of the JSON value at the start of input. ok is false if the value is not
// valid, incomplete, or nested very deeply. Bytes after the value are not checked, except after a
// number: it must be followed by a byte that ends it, or by the end of input.
func Skip(input []byte) (n int, ok bool) {
	n = skip(input, skipSpace(input, 0))
	return n, n >= 0
}

func skip(in []byte, i int) int { return skipNested(in, i, maxDepth) }

func skipNested(in []byte, i, depth int) int {
	if i = skipSpace(in, i); i >= len(in) {
		return -1
	}
	switch c := in[i]; c {
	case '"':
		end, _ := stringEnd(in, i+1)
		return end
	case 't':
		return literalEnd(in, i, "true")
	case 'f':
		return literalEnd(in, i, "false")
	case 'n':
		return literalEnd(in, i, "null")
	case '{', '[':
		closing := c + 2 // of both kinds, in ASCII
		if depth == 0 {
			return -1
		}
		if i = skipSpace(in, i+1); i < len(in) && in[i] == closing {
			return i + 1
		}
		for more := true; more; {
			if c == '{' {
				i = skipName(in, i)
			}
			if i >= 0 {
				i = skipNested(in, i, depth-1)
			}
			if i < 0 {
				return -1
			}
			if i, more = next(in, i, closing); i < 0 {
				return -1
			}
		}
		return i
	}
	end, _ := numberEnd(in, i)
	return end
}

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

const maxDepth = 512
