// SPDX-License-Identifier: Apache-2.0

package gotypes

import "testing"

func TestCanImport(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"a/generated", "a/api/v1", true},
		{"a/generated", "a/internal/v1", true},
		{"a/generated", "a/pkg/internal/v1", false},
		{"a/pkg/generated", "a/pkg/internal", true},
		{"b/generated", "a/internal/v1", false},
		{"ab/generated", "a/internal/v1", false},
		{"a/generated", "a/internals/v1", true},
		{"a/x", "internal/v1", true},
	} {
		if got := CanImport(test.from, test.to); got != test.want {
			t.Errorf("CanImport(%q, %q) = %v", test.from, test.to, got)
		}
	}
}
