// SPDX-License-Identifier: Apache-2.0

package resourceversion

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// versions are in ascending order. The last two exceed every integer type.
var versions = []string{"1", "2", "9", "10", "19", "90", "99", "100", "18446744073709551616", "99999999999999999999"}

func TestCompare(t *testing.T) {
	for i, a := range versions {
		for j, b := range versions {
			order, err := Compare(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if (order < 0) != (i < j) || (order > 0) != (i > j) {
				t.Errorf("Compare(%s, %s) = %d", a, b, order)
			}
		}
	}
}

func TestCompareRejects(t *testing.T) {
	for _, bad := range []string{"", "0", "01", "-1", "+1", "1.0", "1e3", " 1", "1 ", "x", "12x", "١"} {
		for _, pair := range [][2]string{{bad, "7"}, {"7", bad}} {
			if _, err := Compare(pair[0], pair[1]); err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) {
				t.Errorf("Compare(%q, %q) fails with %v, want an error that quotes %q", pair[0], pair[1], err, bad)
			}
		}
	}
}

func TestCompareAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _, _ = Compare("123456789", "123456790") }); n > 0 {
		t.Errorf("Compare allocates %v times, want 0", n)
	}
}
