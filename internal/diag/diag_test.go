// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func at(file string, line, column int) token.Position {
	return token.Position{Filename: file, Line: line, Column: column}
}

func TestSortedOrdersByPlaceAndDropsDuplicates(t *testing.T) {
	list := List{
		{Pos: at("b.go", 1, 1), Message: "last"},
		{Pos: at("a.go", 10, 2), Message: "fourth"},
		{Pos: at("a.go", 9, 3), Message: "second"},
		{Pos: at("a.go", 10, 1), Message: "third"},
		{Pos: at("a.go", 9, 3), Message: "second"},
		{Message: "first"},
	}
	want := "first\na.go:9:3: second\na.go:10:1: third\na.go:10:2: fourth\nb.go:1:1: last"
	if got := list.Sorted().Error(); got != want {
		t.Errorf("Sorted:\n%s\nwant\n%s", got, want)
	}
	if list[0].Message != "last" {
		t.Error("Sorted changed its receiver")
	}
}

func TestPlaceOmitsUnknownLine(t *testing.T) {
	for want, pos := range map[string]token.Position{
		"a/b.go:3": {Filename: filepath.Join("a", "b.go"), Line: 3, Column: 4},
		"go.mod":   {Filename: "go.mod"},
		"":         {},
	} {
		if got := Place(pos); got != want {
			t.Errorf("Place(%+v) = %q, want %q", pos, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	errs, warnings := List{{Message: "a", Warning: true}, {Message: "b"}, {Message: "c", Warning: true}}.Split()
	if diff := cmp.Diff("b|warning: a\nwarning: c", errs.Error()+"|"+warnings.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestRelativeTakesTheShorterName(t *testing.T) {
	dir := filepath.FromSlash("/home/me/project/api")
	for name, want := range map[string]string{
		"/home/me/project/api/types.go":   "types.go",
		"/home/me/project/other/types.go": "../other/types.go",
		"/go/mod/k8s.io/api/types.go":     "/go/mod/k8s.io/api/types.go",
		"types.go":                        "types.go",
		"":                                "",
	} {
		list := List{{Pos: at(filepath.FromSlash(name), 1, 1)}}
		if got := filepath.ToSlash(list.Relative(dir)[0].Pos.Filename); got != want {
			t.Errorf("Relative of %s: got %s, want %s", name, got, want)
		}
	}
}

func TestClosest(t *testing.T) {
	verbs := []string{"get", "list", "watch", "deleteCollection"}
	for got, want := range map[string]string{
		"lsit":             "list",
		"List":             "list",
		"wach":             "watch",
		"deletecollection": "deleteCollection",
		"deletCollections": "deleteCollection",
		"gt":               "get",
		"remove":           "",
		"":                 "",
		"x":                "",
	} {
		if best, ok := Closest(got, verbs); best != want || ok != (want != "") {
			t.Errorf("Closest(%q) = %q, %v; want %q", got, best, ok, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"abcd", "badc", 2}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func ExampleDiagnostic_String() {
	fmt.Println(Diagnostic{
		Pos:     token.Position{Filename: "types.go", Line: 12, Column: 29},
		Marker:  "+genclient:onlyVerbs",
		Message: `verb "lsit" isn't known` + DidYouMean("lsit", []string{"list", "watch"}),
		Allowed: []string{"list", "watch"},
	})
	// Output:
	// types.go:12:29: +genclient:onlyVerbs: verb "lsit" isn't known, did you mean list? (allowed: list, watch)
}
