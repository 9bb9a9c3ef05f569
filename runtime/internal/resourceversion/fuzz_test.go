// SPDX-License-Identifier: Apache-2.0

package resourceversion

import (
	"math/big"
	"testing"
)

// FuzzCompare compares Compare with math/big.
func FuzzCompare(f *testing.F) {
	for _, a := range versions {
		f.Add(a, "10")
	}
	f.Add("", "0")
	f.Add("+1", "1_0")
	f.Fuzz(func(t *testing.T, a, b string) {
		got, err := Compare(a, b)
		x, okA := new(big.Int).SetString(a, 10)
		y, okB := new(big.Int).SetString(b, 10)
		valid := okA && okB && x.Sign() > 0 && y.Sign() > 0 && x.String() == a && y.String() == b
		if (err == nil) != valid || valid && got != x.Cmp(y) {
			t.Errorf("Compare(%q, %q) = %d, %v", a, b, got, err)
		}
	})
}
