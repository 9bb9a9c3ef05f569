// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"testing/iotest"
)

// TestReadingEndsWithTheLastEvent: the bounds read as many events as the informers do, however the
// bytes are cut.
func TestReadingEndsWithTheLastEvent(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		count        func([]byte) int
	}{
		{"JSON", "{}\n{}\n{}\n", lines},
		{"protobuf", "\x00\x00\x00\x02\n\n\x00\x00\x00\x01a\x00\x00\x01\x00" + strings.Repeat("b", 256), new(frames).count},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := strings.NewReader(tc.answer + "more")
			if err := read(iotest.OneByteReader(body), 3, tc.count); err != nil || body.Len() != len("more") {
				t.Errorf("read ended with %v, %d bytes before the end", err, body.Len())
			}
			if n := tc.count([]byte(tc.answer)); n != 3 {
				t.Errorf("in one piece: %d events, want 3", n)
			}
		})
	}
}
