// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStripBodies(t *testing.T) {
	for _, tc := range []struct {
		name, src   string
		all, typesy string // wanted with declarations and with typesOnly; "-": it can't be cut
	}{
		{
			name:   "bodies",
			src:    "package p\n\n// F.\nfunc F(x struct{ a int }) interface{ M() } {\n\treturn \"}\" // {\n}\n\nfunc (t T) G() {}\n",
			all:    "package p\n\n// F.\nfunc F(x struct{ a int }) interface{ M() } {\n\n}\n\nfunc (t T) G() {}\n",
			typesy: "package p\n\n\n\n\n\n\nfunc (t T) G() {}\n",
		},
		{
			name:   "columns",
			src:    "package p\nfunc (T) M() { _ = '}' }; type T /* t */ int // T.\n",
			all:    "package p\nfunc (T) M() {         }; type T /* t */ int // T.\n",
			typesy: "package p\nfunc (T) M() {         }; type T         int \n",
		},
		{
			name:   "variables",
			src:    "//go:build linux\n\npackage p\n\nvar (\n\tm = map[string]string{\n\t\t\"{\": `}\n`,\n\t}\n)\nvar f = func() { g() }\n\nconst c = 1\n",
			all:    "//go:build linux\n\npackage p\n\nvar (\n\tm = map[string]string{\n\t\t\"{\": `}\n`,\n\t}\n)\nvar f = func() { g() }\n\nconst c = 1\n",
			typesy: "//go:build linux\n\npackage p\n\n\n\n\n\n\n\n\n\nconst c = 1\n",
		},
		{
			name:   "comments after what goes",
			src:    "package p\nfunc f() {} ; /* a\n*/ type T int // T\n// b\nvar v int // v\n\nconst c = 1\n",
			all:    "package p\nfunc f() {} ; /* a\n*/ type T int // T\n// b\nvar v int // v\n\nconst c = 1\n",
			typesy: "package p\n              \n   type T int \n\n          \n\nconst c = 1\n",
		},
		{
			name:   "no body",
			src:    "package p\nfunc f[T interface{ ~int }](t T) (struct{}, error)\n\nfunc g() chan struct{}\ntype T struct{}",
			all:    "package p\nfunc f[T interface{ ~int }](t T) (struct{}, error)\n\nfunc g() chan struct{}\ntype T struct{}",
			typesy: "package p\n\n\n\ntype T struct{}",
		},
		{
			name:   "dot at the end of a number",
			src:    "package p\nvar v = 1.\ntype T int\nvar w, x = 2., .5\ntype U int\n",
			all:    "package p\nvar v = 1.\ntype T int\nvar w, x = 2., .5\ntype U int\n",
			typesy: "package p\n\ntype T int\n\ntype U int\n",
		},
		{name: "brace missing", src: "package p\nfunc f() {\n\tif x {\n}\n\ntype T int\n\nfunc g() {\n}\n}\n", all: "-", typesy: "-"},
		{name: "end missing", src: "package p\nfunc f() {\n", all: "-", typesy: "-"},
		{name: "quote missing", src: "package p\nconst c = \"\n", all: "-", typesy: "-"},
		{name: "comment without end", src: "package p\n/* ", all: "-", typesy: "-"},
		{name: "closed too often", src: "package p\ntype T struct{}}\n", all: "-", typesy: "-"},
		{name: "no declaration", src: "package p\nif x {\n}\n", all: "-", typesy: "-"},
		{name: "lines of its own", src: "package p\n//line p.y:10\ntype T int\n", all: "-", typesy: "-"},
	} {
		for keep, want := range map[extent]string{declarations: tc.all, typesOnly: tc.typesy} {
			got, ok := stripBodies([]byte(tc.src), keep)
			if !ok {
				got = []byte("-")
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", tc.name, keep, diff)
			}
		}
	}
}

// TestStrippedFilesMeanTheSame parses files of the standard library with and without stripping
// them.
func TestStrippedFilesMeanTheSame(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, stripped := 0, 0
	for _, dir := range []string{"go", "internal/types/testdata", "net/http", "reflect", "runtime", "slices", "text", "unicode"} {
		err := filepath.WalkDir(filepath.Join(strings.TrimSpace(string(goroot)), "src", dir), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || testing.Short() && files > 300 {
				return err
			}
			src, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files++
			if sameWithout(t, name, src) {
				stripped++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if stripped < files*9/10 {
		t.Errorf("only %d of %d files could be stripped", stripped, files)
	}
}

func FuzzStripBodies(f *testing.F) {
	f.Add("package p\nfunc f() { /* } */ g('}', `}`, \"}\") }; type T struct{}\n")
	f.Add("package p\nvar x = func() struct{} { return struct{}{} }()\nfunc f() struct{} {\n}\nfunc (T) m()\n")
	f.Add("//go:build go1.22\n\npackage p; import \"fmt\"; const (\n\ta = iota // a\n\tb\n)\n")
	f.Fuzz(func(t *testing.T, src string) { sameWithout(t, "p.go", []byte(src)) })
}

// sameWithout checks that what is of interest in src, if it is right, can be found in the same
// places after stripping it. It reports whether src could be stripped.
func sameWithout(t *testing.T, name string, src []byte) bool {
	t.Helper()
	cut := false
	for _, keep := range []extent{declarations, typesOnly} {
		small, ok := stripBodies(src, keep)
		if !ok {
			continue
		}
		cut = true
		fset := token.NewFileSet()
		whole, problems, err := parse(fset, name, src, keep)
		if err != nil || len(problems) > 0 {
			continue
		}
		part, problems, err := parse(fset, name, small, keep)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s doesn't parse with %v: %v%v\n%s", name, keep, err, problems, small)
			continue
		}
		if diff := cmp.Diff(outline(fset, whole, keep), outline(fset, part, keep)); diff != "" {
			t.Errorf("%s with %v (-whole +stripped):\n%s", name, keep, diff)
		}
	}
	return cut
}

// outline is what is of interest in a file, with places.
func outline(fset *token.FileSet, file *ast.File, keep extent) string {
	var b strings.Builder
	at := func(pos token.Pos) string {
		p := fset.Position(pos)
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	fmt.Fprintln(&b, file.GoVersion)
	if keep == declarations {
		for _, group := range file.Comments {
			if !insideFunction(file, group) {
				fmt.Fprintf(&b, "%s %q\n", at(group.Pos()), group.Text())
			}
		}
	} else {
		file, _ = pruned(file, ofTypes, func(string) string { return "" })
	}
	for _, decl := range file.Decls {
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil, *ast.CommentGroup:
				return false
			case *ast.Ident:
				fmt.Fprintf(&b, "%s %s\n", at(n.Pos()), n.Name)
			case *ast.BasicLit:
				fmt.Fprintf(&b, "%s %s\n", at(n.Pos()), n.Value)
			default:
				fmt.Fprintf(&b, "%s %s %T\n", at(n.Pos()), at(n.End()), n)
			}
			return true
		})
	}
	return b.String()
}

func insideFunction(file *ast.File, group *ast.CommentGroup) bool {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil && f.Body.Pos() < group.Pos() && group.End() < f.Body.End() {
			return true
		}
	}
	return false
}
