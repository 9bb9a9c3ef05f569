// SPDX-License-Identifier: Apache-2.0

package protowire

import "fmt"

// MaxDepth is the maximum nesting of messages. It is the limit of the other formats, too.
const MaxDepth = 10000

// ErrDepth is the error of messages nested deeper.
var ErrDepth = fmt.Errorf("messages are nested more than %d deep", MaxDepth)

// CheckDepth returns ErrDepth if messages are nested so deep that a generated Unmarshal method
// could overflow the stack. It can't tell messages from texts, so it takes every value as a message
// as far as it reads like one. It looks at each byte once at most. It reads numbers as these
// methods do, ignoring the bits beyond the 64th.
func CheckDepth(msg []byte) error {
	ends := []int{len(msg)} // of the messages around at
	for at := 0; len(ends) > 0; {
		end := ends[len(ends)-1]
		if at >= end {
			ends = ends[:len(ends)-1]
			continue
		}
		tag, n := number(msg[at:end])
		at += n
		switch tag & 7 {
		case 0:
			_, n = number(msg[at:end])
			at += n
		case 1:
			at = min(at+8, end)
		case 2:
			size, n := number(msg[at:end])
			at += n
			if size > uint64(end-at) {
				at = end // nothing reads on from here
				continue
			}
			if len(ends) > MaxDepth {
				return ErrDepth
			}
			ends = append(ends, at+int(size))
		case 5:
			at = min(at+4, end)
		}
	}
	return nil
}

func number(b []byte) (v uint64, n int) {
	for n < len(b) && n < 10 {
		v |= uint64(b[n]&0x7f) << (7 * n)
		n++
		if b[n-1] < 0x80 {
			break
		}
	}
	return v, n
}
