// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

const gainsTypes = `package p

type Pod struct {
	Metadata struct {
		Name   string            ` + "`json:\"name\"`" + `
		Labels map[string]string ` + "`json:\"labels\"`" + `
	} ` + "`json:\"metadata\"`" + `
	Spec   Spec   ` + "`json:\"spec\"`" + `
	Status Status ` + "`json:\"status\"`" + `
}

type Spec struct {
	Node     string    ` + "`json:\"node\"`" + `
	Template Template  ` + "`json:\"template\"`" + `
}

type Template struct {
	Images []string  ` + "`json:\"images\"`" + `
	Next   *Template ` + "`json:\"next\"`" + `
}

type Status struct{ A, B, C, D, E int }
`

// Each use has a path, a way and a position. Each gain lists the positions to remove, and the
// remaining fields.
func TestGains(t *testing.T) {
	for _, tc := range []struct {
		name, uses, want string
		projected        bool
	}{
		{name: "nothing is used as a whole", uses: ".spec.node read a:1"},
		{name: "the kind is a projection", uses: " whole a:1", projected: true},
		{
			name: "the object at two places",
			uses: ".spec.node read a:1, whole a:2, whole b:3",
			want: "a:2 b:3: 1 of 9 (.spec.node)",
		},
		{
			name: "one line takes the object in two ways",
			uses: "whole a:2, compared a:2, .status whole b:1, .status whole b:2",
			want: "a:2 a:2: 5 of 9 (.status); b:1 b:2: 0 of 9 ()",
		},
		{
			name: "the object and all that is in it",
			uses: "whole a:1, .metadata whole a:2, .spec whole a:3, .status whole a:4",
			want: "a:1 a:4: 4 of 9 (.metadata;.spec); a:3: 1 of 9 (.metadata); a:2: 0 of 9 ()",
		},
		{
			name: "a part of a part goes with it",
			uses: ".spec whole a:1, .spec.template whole a:2, .spec.node read a:3",
			want: "a:1 a:2: 1 of 9 (.spec.node)",
		},
		{
			name: "what is read anyway isn't gained",
			uses: ".spec whole a:1, .spec.node read a:3, .spec.template.images read a:4, .spec.template.next read a:5",
		},
		{
			name: "many lines for a little come last",
			uses: ".status whole a:1, .status whole a:2, .status whole a:3, .status whole a:4, .spec.template whole a:5",
			want: "a:5: 5 of 9 (.status); a:1 a:2 a:3 a:4: 0 of 9 ()",
		},
		{
			name: "the program's own lines come first",
			uses: "whole m/z:1, whole z:2, whole m/a:3, whole a:4",
			want: "a:4 z:2 m/a:3 m/z:1: 0 of 9 ()",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := gainsKind(t, tc.uses)
			k.Projected = tc.projected
			var got []string
			for _, g := range k.Gains() {
				var lines []string
				for _, u := range g.Without {
					lines = append(lines, fmt.Sprintf("%s:%d", u.Pos.Filename, u.Pos.Line))
				}
				text := fmt.Sprintf("%s: %d of %d (%s)", strings.Join(lines, " "), g.Kept, g.Total, strings.Join(g.Fields, ";"))
				got = append(got, text)
			}
			if got := strings.Join(got, "; "); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func gainsKind(t *testing.T, uses string) *Kind {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", gainsTypes, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &Kind{Package: "p", Name: "Pod", typ: pkg.Scope().Lookup("Pod").Type().(*types.Named)}
	for use := range strings.SplitSeq(uses, ",") {
		words := strings.Fields(use)
		if len(words) == 2 {
			words = append([]string{""}, words...)
		}
		u := Use{Path: words[0], field: words[0], How: How(words[1]), own: !strings.Contains(words[2], "/")}
		if _, err := fmt.Sscanf(strings.ReplaceAll(words[2], ":", " "), "%s %d", &u.Pos.Filename, &u.Pos.Line); err != nil {
			t.Fatal(err)
		}
		if u.How == "compared" {
			u.How, u.Why = Whole, "compared"
		}
		k.Uses = append(k.Uses, u)
	}
	return k
}
