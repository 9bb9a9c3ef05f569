// SPDX-License-Identifier: Apache-2.0

package protowire

import (
	"errors"
	"testing"
)

// TestNextOfTruncatedFields truncates a field of each wire type at every byte.
func TestNextOfTruncatedFields(t *testing.T) {
	for _, field := range []string{
		"\x08\x96\x01", "\xf8\x07\x01", "\x09\x01\x02\x03\x04\x05\x06\x07\x08", "\x12\x03abc", "\x0d\x01\x02\x03\x04", "\x0a\x00",
	} {
		for cut := 1; cut <= len(field); cut++ {
			f, rest, err := Next([]byte(field[:cut]))
			if whole := cut == len(field); whole && (err != nil || f.Size != cut || len(rest) != 0) || !whole && !errors.Is(err, ErrField) {
				t.Errorf("Next(%q) = field of %d bytes, rest %q, %v", field[:cut], f.Size, rest, err)
			}
		}
	}
	for _, wireType := range []byte{3, 4, 6, 7} {
		if _, _, err := Next([]byte{8 | wireType, 0}); err == nil {
			t.Errorf("Next accepts wire type %d", wireType)
		}
	}
}
