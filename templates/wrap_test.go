// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"strings"
	"testing"
)

// longName makes a line too long.
var longName = strings.Repeat("x", 100)

func TestLongLinesAreWrapped(t *testing.T) {
	for code, want := range map[string]string{
		"var a = b{C: " + longName + ", D: 1234567890}\n":                 "var a = b{\n\tC: " + longName + ",\n\tD: 1234567890,\n}\n",
		"var a = b(" + longName + ", 1, 234567890)\n":                     "var a = b(\n\t" + longName + ",\n\t1,\n\t234567890,\n)\n",
		"var a = b(1, " + longName + "2345...)\n":                         "var a = b(\n\t1,\n\t" + longName + "2345...,\n)\n",
		"var a = func(b, c int, d " + longName + ") {}\n":                 "var a = func(\n\tb, c int,\n\td " + longName + ",\n) {\n}\n",
		"var a = b && " + longName + " && c12 && d456\n":                  "var a = b && " + longName + " &&\n\tc12 && d456\n",
		"var a = b(c{D: e{F: 1, G: " + longName + "}, H: i12})\n":         "var a = b(c{\n\tD: e{F: 1, G: " + longName + "},\n\tH: i12,\n})\n",
		"var a = c{D: e{F: 1, G: " + longName + longName + "}, H: i}\n":   "var a = c{\n\tD: e{\n\t\tF: 1,\n\t\tG: " + longName + longName + ",\n\t},\n\tH: i,\n}\n",
		"// A comment " + longName + " stays as it is, it was folded.\n":  "",
		"var " + longName + " = \"a text that can't be broken at all\"\n": "",
		"var a = func(b " + longName[:80] + ") {}\n":                      "",
	} {
		const clause = "package p\n\n"
		if want == "" {
			want = code
		}
		got, err := wrap([]byte(clause + code))
		if err != nil || string(got) != clause+want {
			t.Errorf("%s\ngot\n%s\nwant\n%s%s\n%v", code, got, clause, want, err)
		}
	}
}
