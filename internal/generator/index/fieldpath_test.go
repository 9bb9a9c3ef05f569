// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

const pathTypes = `package v1

type T struct {
	S     string                 ` + "`json:\"s\"`" + `
	N     Phase                  ` + "`json:\"n\"`" + `
	B     bool                   ` + "`json:\"b\"`" + `
	PB    *bool                  ` + "`json:\"pb\"`" + `
	PS    *string                ` + "`json:\"ps\"`" + `
	I8    int8                   ` + "`json:\"i8\"`" + `
	U64   uint64                 ` + "`json:\"u64\"`" + `
	F     float64                ` + "`json:\"f\"`" + `
	L     [][]string             ` + "`json:\"l\"`" + `
	LP    []*[2][]*Phase         ` + "`json:\"lp\"`" + `
	M     map[string]string      ` + "`json:\"m\"`" + `
	MN    map[Name]*Node         ` + "`json:\"mn\"`" + `
	MI    map[int8][]string      ` + "`json:\"mi\"`" + `
	MB    map[bool]map[Name]bool ` + "`json:\"mb\"`" + `
	MS    map[Ref]string         ` + "`json:\"ms\"`" + `
	PM    *map[string][]byte     ` + "`json:\"pm\"`" + `
	Named Names                  ` + "`json:\"named\"`" + `
	Ref   Ref                    ` + "`json:\"ref\"`" + `
	Node  *Node                  ` + "`json:\"node\"`" + `
	Bad   Bad                    ` + "`json:\"bad\"`" + `
	Any   any                    ` + "`json:\"any\"`" + `
	*Extra
}
type (
	Phase string
	Name  string
	Names map[Name]Names2
	Names2 []Name
	Ref   struct{ A, B string; c [2]int }
	Node  struct {
		Name string ` + "`json:\"name\"`" + `
		Next *Node  ` + "`json:\"next\"`" + `
	}
	Bad struct{ P struct{ Q *int } }
	Extra struct { X string ` + "`json:\"x\"`" + ` }
)
const (
	Running Phase = "Run"
	PhaseDone Phase = "Done"
)
`

// typeT returns type T of a package that imports nothing.
func typeT(t testing.TB, source string) *types.Named {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "types.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("example.com/v1", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg.Scope().Lookup("T").Type().(*types.Named)
}

// stepsText formats steps, with * after pointers.
func stepsText(steps []model.Step) string {
	var b strings.Builder
	star := func(pointer bool) string {
		if pointer {
			return "*"
		}
		return ""
	}
	for _, s := range steps {
		if s.Field != "" {
			b.WriteString("." + s.Field + star(s.Pointer))
		}
		switch {
		case s.Each && s.Map:
			b.WriteString("[map]" + star(s.ElemPointer))
		case s.Each && s.Array:
			b.WriteString("[array]" + star(s.ElemPointer))
		case s.Each:
			b.WriteString("[list]" + star(s.ElemPointer))
		case s.Keys:
			b.WriteString("[keys]" + star(s.ElemPointer))
		case s.Entry != "":
			b.WriteString("[" + s.Entry + "]" + star(s.ElemPointer))
		}
	}
	return b.String()
}

// indexMarker returns the marker +informer:index:name=X with more arguments. Columns count in that
// line.
func indexMarker(t *testing.T, args string) *marker.Index {
	t.Helper()
	var report diag.List
	line := syntax.Line{Text: "informer:index:name=X," + args, Pos: token.Position{Filename: "f.go", Line: 1, Column: 1}}
	all := marker.All[marker.Index](syntax.Parse([]syntax.Line{line}, &report))
	if len(all) != 1 || len(report) > 0 {
		t.Fatalf("%s: %v", args, report)
	}
	return all[0]
}

// reader returns a Reader, and a kind of type t.
func reader(t *types.Named) (*Reader, Kind) {
	r := report.New(token.NewFileSet(), "")
	return NewReader(r, Output{ImportPath: "example.com/generated"}, NewOwners(false), Funcs{}), Kind{Name: "T", Namespaced: true, Type: t}
}

func TestFieldPathsAreFollowedThroughTypes(t *testing.T) {
	named := typeT(t, pathTypes)
	for text, want := range map[string]string{
		".s":                                 ".S string",
		".n":                                 ".N v1.Phase",
		".x":                                 ".Extra*.X string",
		".l[*][*]":                           ".L[list][list] string",
		".lp[*][*][*]":                       ".LP[list]*[array][list]* v1.Phase",
		".m[*]":                              ".M[map] string",
		".m[keys]":                           ".M[keys] string",
		".m['a/b']":                          `.M["a/b"] string`,
		`.m["\t'"]`:                          `.M["\t'"] string`,
		".mn['x'].next.name":                 `.MN["x"]*.Next*.Name string`,
		".mn[keys]":                          ".MN[keys] v1.Name",
		".mi['-5'][*]":                       ".MI[-5][list] string",
		".mi[*][*]":                          ".MI[map][list] string",
		".mb['true'][keys]":                  ".MB[true][keys] v1.Name",
		".ms[keys]":                          ".MS[keys] v1.Ref",
		".ms[*]":                             ".MS[map] string",
		".pm[keys]":                          ".PM*[keys] string",
		".named['a'][*]":                     `.Named["a"][list] v1.Name`,
		".ref":                               ".Ref v1.Ref",
		".n;.s":                              ".N v1.Phase as N; .S string as S",
		".m['a'];.m['b/c']":                  `.M["a"] string as A; .M["b/c"] string as C`,
		".m['x/c'];.m['y.z/c'];.n":           `.M["x/c"] string as XC; .M["y.z/c"] string as YZC; .N v1.Phase as N`,
		".m[keys];.m[*]":                     ".M[keys] string as Key; .M[map] string as M",
		".m[''];.m['5'];.m['a-b'];.m['a.b']": `.M[""] string as M; .M["5"] string as M5; .M["a-b"] string as AB; .M["a.b"] string as AB2`,
		".mn['x'].name;.node.name":           `.MN["x"]*.Name string as XName; .Node*.Name string as NodeName`,
		".node.name;.node.next.name":         ".Node*.Name string as NodeName; .Node*.Next*.Name string as NextName",

		".q":                `31: v1.T has no field "q", did you mean s? (allowed: s, n, b, pb, ps, i8, u64, f, l, lp, m, mn, mi, mb, ms, pm, named, ref, node, bad, any, x)`,
		".m":                "31: .m is a map (map[string]string), not one value: write .m[*] for every value, .m[keys] for every key or .m['KEY'] for one entry",
		".m.a":              "33: .m is a map (map[string]string), whose entries aren't fields: write .m['a'] for the entry a",
		".m.a.b/c":          "33: .m is a map (map[string]string), whose entries aren't fields: write .m['a.b/c'] for the entry a.b/c",
		".mn.a.name":        "34: .mn is a map (map[v1.Name]*v1.Node), whose entries aren't fields: write .mn['a'] for the entry a",
		".m[*][*]":          "35: .m[*] is neither a list nor a map but one value (string): omit [*]",
		".l[*]":             "31: .l[*] is a list ([]string), not one value: write .l[*][*] for every element",
		".l.x":              "31: .l is a list ([][]string), not one value: write .l[*] for every element",
		".l[keys]":          "32: .l is a list ([][]string) and has no keys: [*] means every element",
		".l['a']":           `32: .l is a list ([][]string) and has no entry "a": [*] means every element`,
		".s['a']":           "32: .s is neither a list nor a map but one value (string): omit ['a']",
		".mi['500'][*]":     `33: "500" isn't a key of .mi (map[int8][]string): it is out of the range of int8, which is -128 to 127`,
		".mi['x'][*]":       `33: "x" isn't a key of .mi (map[int8][]string): it isn't a decimal integer`,
		".mb['x'][keys]":    `33: the keys of .mb (map[bool]map[v1.Name]bool) are true and false`,
		".ms['x']":          `33: the keys of .ms (map[v1.Ref]string) can't be written in a path: use func with a function that returns the keys`,
		".pm['a']":          "31: .pm['a'] holds bytes ([]byte), which can't be a key: use func with a function that returns the keys",
		".bad":              "31: .bad can't be the key of an index: v1.Bad.P.Q is a pointer, which is compared by address; a key is a string, a bool, an integer or a struct of these, or a type declared as one; continue the path to one of its fields (allowed: P)",
		".any":              "31: .any can't be the key of an index: any isn't a key type; a key is a string, a bool, an integer or a struct of these, or a type declared as one",
		".f":                "31: .f can't be the key of an index: float64 can't be compared reliably; a key is a string, a bool, an integer or a struct of these, or a type declared as one; use func with a function that returns it rounded to an integer",
		".s;.n;.s":          "36: .s is already part 1 of the key",
		".m['a'];.m[\"a\"]": `38: .m["a"] is already part 1 of the key`,
	} {
		r, k := reader(named)
		x := &model.Index{}
		m := indexMarker(t, "field="+text)
		ok := r.fieldPaths(k, m, x)
		var parts []string
		for _, p := range x.Paths {
			part := stepsText(p.Steps) + " " + keyText(p.Key)
			if p.Name != "" {
				part += " as " + p.Name
			}
			parts = append(parts, part)
		}
		got := strings.Join(parts, "; ")
		if len(r.report.Findings()) > 0 {
			got = strings.NewReplacer("f.go:1:", "", "+informer:index: ", "").Replace(r.report.Findings().Error())
		}
		if ok != (len(r.report.Findings()) == 0) {
			t.Errorf("%s: ok is %v with %v", text, ok, r.report.Findings())
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func keyText(key model.GoType) string {
	if key.Package == "" {
		return key.Name
	}
	return key.Package + "." + key.Name
}

func TestConditionsAreCheckedAgainstTypes(t *testing.T) {
	named := typeT(t, pathTypes)
	for text, want := range map[string]string{
		".s==x":                      `.S == "x"`,
		`.s!="true" && .b==true`:     `.S != "true"; .B == true`,
		".pb!=true":                  ".PB* != true",
		".pb==null":                  ".PB* == nil",
		".node!=null":                ".Node* != nil",
		".node.name==null":           ".Node*.Name == nil",
		".mn['a'].next.name=='null'": `.MN["a"]*.Next*.Name == "null"`,
		".m['a']!=null":              `.M["a"] != nil`,
		".i8==-128":                  ".I8 == -128",
		".u64==18446744073709551615": ".U64 == 18446744073709551615",
		".n==Run":                    `.N == "Run"`,
		".s!=a && .s!=b":             `.S != "a"; .S != "b"`,
		".x==null":                   ".Extra*.X == nil",

		".i8==128":                "34: .i8 (int8) is never 128: it is out of the range of int8, which is -128 to 127",
		".u64==-1":                "35: .u64 (uint64) is never -1: it is out of the range of uint64, which is 0 to 18446744073709551615",
		".i8=='1'":                "34: .i8 (int8) isn't a string: omit the quotes",
		".i8==1.5":                "34: .i8 (int8) is never 1.5: it isn't a decimal integer",
		".b==True":                "33: .b (bool) is never True, did you mean true? (allowed: true, false)",
		".pb==1":                  "34: .pb (bool) is never 1 (allowed: true, false, null)",
		`.b=="true"`:              "33: .b (bool) isn't a string: omit the quotes",
		".s==true":                `33: .s (string) is a string: write "true" in quotes`,
		".s==5":                   `33: .s (string) is a string: write "5" in quotes`,
		".s==null":                `33: .s==null never holds, because .s (string) is never absent; to ask whether it is empty, write .s==""`,
		".b!=null":                "33: .b!=null always holds, because .b (bool) is never absent",
		".f==1":                   "30: .f (float64) can't be compared: conditions compare strings, bools and integers, and pointers or map entries with null; use func with a function that returns the keys",
		".m==null":                "30: .m (map[string]string) can't be compared: conditions compare strings, bools and integers, and pointers or map entries with null; use func with a function that returns the keys",
		".node==x":                "30: .node (v1.Node) can't be compared: conditions compare strings, bools and integers, and pointers or map entries with null; use func with a function that returns the keys",
		".l[*]==x":                "31: a condition compares one value, but .l[*] has many: use func with a function that returns the keys",
		".b==true && .m[keys]==x": "43: a condition compares one value, but .m[keys] has many: use func with a function that returns the keys",
		".b==true && .q.r==1":     `42: v1.T has no field "q", did you mean s? (allowed: s, n, b, pb, ps, i8, u64, f, l, lp, m, mn, mi, mb, ms, pm, named, ref, node, bad, any, x)`,
		".b=true":                 "31: unexpected =: write == to compare",

		".n==Running": "33: warning: no constant of type v1.Phase is \"Running\", did you mean Run? (conditions use values, not names of constants) (allowed: Done, Run); .N == \"Running\"",
		".n!=done":    "33: warning: no constant of type v1.Phase is \"done\", did you mean Done? (allowed: Done, Run); .N != \"done\"",
	} {
		r, k := reader(named)
		x := &model.Index{}
		m := indexMarker(t, "when="+text)
		ok := r.conditions(k, m, x)
		var parts []string
		if errs, warnings := r.report.Findings().Split(); len(r.report.Findings()) > 0 {
			if ok != (len(errs) == 0) {
				t.Errorf("%s: ok is %v with %v", text, ok, r.report.Findings())
			}
			parts = append(parts, strings.NewReplacer("f.go:1:", "", "+informer:index: ", "").Replace(append(errs, warnings...).Error()))
		}
		if ok {
			for _, c := range x.When {
				operator := "=="
				if c.Not {
					operator = "!="
				}
				parts = append(parts, fmt.Sprintf("%s %s %s", stepsText(c.Path.Steps), operator, c.Literal))
			}
		}
		if got := strings.Join(parts, "; "); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// FuzzFollow follows paths and checks conditions.
func FuzzFollow(f *testing.F) {
	named := typeT(f, pathTypes)
	for _, seed := range [][2]string{
		{".lp[*][*][*];.mn['x'].next.name", ".mb['true']['a']==true && .i8!=null"}, {".mi['5'][*]", ".n==Runing"}, {".m.a", ".bad.P.Q==null"},
		{".ref;.ms[keys]", ".any==1"}, {".named[keys]", ".u64==-1"}, {".f", ".pm['x']==null"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, field, when string) {
		at := func(text string) marker.Value {
			return marker.Value{Text: text, Pos: token.Position{Filename: "f.go", Line: 1, Column: 1}}
		}
		m := &marker.Index{When: at(when)}
		longest := len(when)
		for path := range strings.SplitSeq(field, ";") {
			m.Fields = append(m.Fields, at(path))
			longest = max(longest, len(path))
		}
		r, k := reader(named)
		x := &model.Index{}
		ok := r.fieldPaths(k, m, x)
		ok = r.conditions(k, m, x) && ok
		errs, _ := r.report.Findings().Split()
		if ok != (len(errs) == 0) {
			t.Errorf("%v with %v", ok, r.report.Findings())
		}
		for _, d := range r.report.Findings() {
			if d.Pos.Column < 1 || d.Pos.Column > longest+1 {
				t.Errorf("%q, %q: %v", field, when, d)
			}
		}
		taken := map[string]bool{}
		for _, p := range x.Paths {
			if len(p.Steps) == 0 || p.Key.Name == "" || ok && len(x.Paths) > 1 && (!names.IsExported(p.Name) || taken[p.Name]) {
				t.Errorf("%q: %+v", field, p)
			}
			taken[p.Name] = true
		}
		for _, c := range x.When {
			if len(c.Path.Steps) == 0 || c.Literal == "" {
				t.Errorf("%q: %+v", when, c)
			}
		}
	})
}
