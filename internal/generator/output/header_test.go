// SPDX-License-Identifier: Apache-2.0

package output

import (
	"testing"

	"github.com/informer-gen/informer-gen/internal/diag"
)

func TestHeaderTextKeepsComments(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n\n", ""},
		{"one line", "// A\n", "// A"},
		{"no line break at the end", "// A", "// A"},
		{"Windows", "\uFEFF// A\r\n// B\r\n", "// A\n// B"},
		{"two paragraphs", "// A\n\n/*\n  B\n*/\n", "// A\n\n/*\n  B\n*/"},
		{"years", "// YEAR, YEAR; YEARS\n", "// 2024, 2026, 2024, 2026; YEARS"},
		{"a build constraint first", "//go:build a && !b\n// A\n", "//go:build a && !b\n\n// A"},
		{"a build constraint last", "// A\n//go:build a\n", "// A\n\n//go:build a"},
		{"a build constraint in the middle", "// A\n//go:build a\n// B\n", "// A\n\n//go:build a\n\n// B"},
		{"package in a comment", "/*\npackage deal\n*/\n", "/*\npackage deal\n*/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var report diag.List
			got, _ := HeaderText("h.txt", []byte(test.content), "2024, 2026", &report)
			if errs, _ := report.Split(); got != test.want || len(errs) > 0 {
				t.Errorf("got %q, %v; want %q", got, errs, test.want)
			}
		})
	}
}
