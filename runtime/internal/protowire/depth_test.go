// SPDX-License-Identifier: Apache-2.0

package protowire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// nested returns inner nested in messages, depth times.
func nested(depth int, inner ...byte) []byte {
	size, heads := len(inner), [][]byte{inner} // from the inside out
	for range depth {
		head := binary.AppendUvarint([]byte{1<<3 | 2}, uint64(size))
		size += len(head)
		heads = append(heads, head)
	}
	slices.Reverse(heads)
	return bytes.Join(heads, nil)
}

func TestCheckDepth(t *testing.T) {
	group := []byte{2<<3 | 3, 2<<3 | 4}
	for name, tc := range map[string]struct {
		msg     []byte
		tooDeep bool
	}{
		"empty":                     {nil, false},
		"at the limit":              {nested(MaxDepth), false},
		"beyond it":                 {nested(MaxDepth + 1), true},
		"beyond it, after a number": {slices.Concat([]byte{2 << 3, 0x81, 1}, nested(MaxDepth+1)), true},
		"beyond it, after 8 bytes":  {slices.Concat([]byte{2<<3 | 1}, make([]byte, 8), nested(MaxDepth+1)), true},
		"beyond it, after 4 bytes":  {slices.Concat([]byte{2<<3 | 5}, make([]byte, 4), nested(MaxDepth+1)), true},
		"beyond it, after a group":  {slices.Concat(group, nested(MaxDepth+1)), true},
		"beyond it, after a text":   {slices.Concat(AppendBytes(nil, 3, []byte("text that is no message")), nested(MaxDepth+1)), true},
		"beyond it, around a text":  {nested(MaxDepth+1, []byte("\xff text")...), true},
		// Unmarshal methods read this size as 2: the last byte only has bits beyond the 64th.
		"a size of ten bytes":   {slices.Concat([]byte{3<<3 | 2, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 'a', 'b'}, nested(MaxDepth+1)), true},
		"many in sequence":      {bytes.Repeat(nested(MaxDepth/2), 20), false},
		"sizes beyond the end":  {bytes.Repeat([]byte{1<<3 | 2, 0x7f}, MaxDepth), false},
		"a number without end":  {bytes.Repeat([]byte{0x80}, MaxDepth), false},
		"zeros":                 {make([]byte, MaxDepth), false},
		"cut off in 8 bytes":    {[]byte{2<<3 | 1, 0}, false},
		"cut off in 4 bytes":    {[]byte{2<<3 | 5, 0}, false},
		"cut off in a number":   {[]byte{2 << 3}, false},
		"cut off before a size": {[]byte{2<<3 | 2}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := CheckDepth(tc.msg); errors.Is(err, ErrDepth) != tc.tooDeep {
				t.Errorf("CheckDepth = %v, want ErrDepth: %v", err, tc.tooDeep)
			}
		})
	}
}
