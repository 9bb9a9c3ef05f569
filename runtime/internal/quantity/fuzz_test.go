// SPDX-License-Identifier: Apache-2.0

package quantity

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// FuzzParse compares Parse with resource.ParseQuantity, except for exponents that take it minutes.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "0", "1", "-1.5", "+100m", "1Ki", "1.1Ei", "1e3", "1E3", "1e-3", "12345678901234567890e5", "0.000000000001", "1e-2000", ".5", "5.", "1e", "1e+", "1Ee", "9223372036854775808", "1e99999999999", "1e89999999999", "1e4294967297", "1e4294967299", "1_0", "१",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 100 {
			return
		}
		got, err := Parse(text)
		if at := strings.LastIndexAny(text, "eE"); at >= 0 {
			if n, err := strconv.ParseInt(text[at+1:], 10, 64); err == nil && (int32(n) > 1000 || int32(n) < -1000) {
				return // may take minutes
			}
		}
		want, wantErr := resource.ParseQuantity(text)
		if (err == nil) != (wantErr == nil) || err == nil && (got.Cmp(want) != 0 || got.String() != want.String() || got.Format != want.Format) {
			t.Errorf("Parse(%q) = %v, %v, want %v, %v", text, got.String(), err, want.String(), wantErr)
		}
		var q, theirs resource.Quantity
		raw := []byte(strconv.Quote(text))
		if err, wantErr := ParseJSON(raw, &q), theirs.UnmarshalJSON(raw); (err == nil) != (wantErr == nil) || err == nil && q.Cmp(theirs) != 0 {
			t.Errorf("ParseJSON(%s) = %v, %v, want %v, %v", raw, q.String(), err, theirs.String(), wantErr)
		}
	})
}
