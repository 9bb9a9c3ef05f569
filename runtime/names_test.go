// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// names are the exported names of the runtime, and those of the generated packages of the sample.
type names struct {
	packages  []*types.Package
	generated map[string]bool // package.Name and package.Type.Method
}

func newNames(t *testing.T) names {
	n := names{exportedPackages(t), map[string]bool{}}
	for file := range goFiles(t, "../examples/crd-sample/generated") {
		for _, decl := range file.Decls {
			for _, name := range declared(decl) {
				n.generated[file.Name.Name+"."+name] = true
			}
		}
	}
	return n
}

// lookup returns what is wrong with package, package.Name or package.Type.Member.
func (n names) lookup(name string) error {
	parts := strings.Split(name, ".")
	if n.generated[name] {
		return nil
	}
	for _, pkg := range n.packages {
		if pkg.Name() != parts[0] {
			continue
		}
		if len(parts) == 1 {
			return nil
		}
		obj := pkg.Scope().Lookup(parts[1])
		if obj == nil || !obj.Exported() {
			return fmt.Errorf("package %s has no exported %s", pkg.Path(), parts[1])
		}
		for _, member := range parts[2:] {
			found, _, _ := types.LookupFieldOrMethod(types.NewPointer(deref(obj.Type())), true, pkg, member)
			if found == nil {
				// A pointer to an interface has no methods.
				found, _, _ = types.LookupFieldOrMethod(obj.Type(), true, pkg, member)
			}
			if found == nil || !found.Exported() {
				return fmt.Errorf("%s has no exported field or method %s", types.TypeString(obj.Type(), (*types.Package).Name), member)
			}
			obj = found
		}
		return nil
	}
	return fmt.Errorf("neither the runtime nor the sample's generated code has it")
}

// tests are the test functions of all modules of the repository.
type tests struct {
	funcs    map[string]bool            // folder.TestName
	literals map[string]map[string]bool // the strings in the test files of a folder
}

// readTests guards allTests, which takes seconds to read.
var (
	readTests sync.Once
	allTests  tests
)

// testNames returns the tests of the repository.
func testNames(t *testing.T) tests {
	t.Helper()
	readTests.Do(func() { allTests = newTests(t) })
	if allTests.funcs == nil {
		t.Fatal("the tests of the repository could not be read")
	}
	return allTests
}

func newTests(t *testing.T) tests {
	found := tests{map[string]bool{}, map[string]map[string]bool{}}
	for file, name := range goFiles(t, "..") {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		folder := filepath.Base(filepath.Dir(name))
		if found.literals[folder] == nil {
			found.literals[folder] = map[string]bool{}
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && testFunc.MatchString(f.Name.Name) {
				found.funcs[folder+"."+f.Name.Name] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					found.literals[folder][text] = true
				}
			}
			return true
		})
	}
	return found
}

var testFunc = regexp.MustCompile(`^(Test|Example|Fuzz)([^a-z]|$)`)

func (t tests) lookup(name string) error {
	test, subtest, _ := strings.Cut(name, "/")
	if !t.funcs[test] {
		return fmt.Errorf("no _test.go file of the repository has it; write folder.TestName")
	}
	folder, _, _ := strings.Cut(test, ".")
	if subtest != "" && !t.literals[folder][subtest] {
		return fmt.Errorf("no test file in a folder %s has the string %q", folder, subtest)
	}
	return nil
}

// goFiles yields the parsed Go files below a folder with their names. Folders that the go command
// ignores are left out.
func goFiles(t *testing.T, root string) func(yield func(*ast.File, string) bool) {
	return func(yield func(*ast.File, string) bool) {
		fset := token.NewFileSet()
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch base := d.Name(); {
			case err != nil:
				return err
			case d.IsDir():
				if name != root && (base == "testdata" || base[0] == '.' || base[0] == '_') {
					return fs.SkipDir
				}
				return nil
			case filepath.Ext(base) != ".go":
				return nil
			}
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if !yield(file, name) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// declared are the exported names of a declaration: of types, their methods and the methods of
// interfaces, and functions.
func declared(decl ast.Decl) []string {
	var names []string
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil {
			receiver := decl.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			id, ok := receiver.(*ast.Ident)
			if !ok {
				return nil
			}
			name = id.Name + "." + name
		}
		names = append(names, name)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, id := range m.Names {
							names = append(names, spec.Name.Name+"."+id.Name)
						}
					}
				}
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// tableRow is a line of a table in a Markdown file, without the line of titles and the one of
// dashes.
type tableRow struct {
	line  int // counted from 1
	cells []string
}

// tableAfter reads the first table after a line that is heading.
func tableAfter(t *testing.T, file, heading string) []tableRow {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	at := slices.Index(lines, heading)
	if at < 0 {
		t.Fatalf("%s has no line %q", file, heading)
	}
	var rows []tableRow
	for n := at + 1; n < len(lines); n++ {
		line := strings.TrimSpace(lines[n])
		switch {
		case strings.HasPrefix(line, "|"):
			rows = append(rows, tableRow{n + 1, cellsOf(line)})
		case len(rows) > 0 || strings.HasPrefix(line, "#"):
			n = len(lines)
		}
	}
	if len(rows) < 2 || !dashes.MatchString(strings.Join(rows[1].cells, "")) {
		t.Fatalf("%s has no table after %q", file, heading)
	}
	return rows[2:]
}

var dashes = regexp.MustCompile(`^[-: ]+$`)

// cellsOf splits a line of a table. A bar that belongs to a cell is written \|.
func cellsOf(line string) []string {
	line = strings.ReplaceAll(line, `\|`, "\x00")
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for n := range cells {
		cells[n] = strings.TrimSpace(strings.ReplaceAll(cells[n], "\x00", "|"))
	}
	return cells
}

// quoted are the parts of a cell that stand in backticks.
func quoted(cell string) []string {
	var parts []string
	for n, part := range strings.Split(cell, "`") {
		if n%2 == 1 {
			parts = append(parts, part)
		}
	}
	return parts
}
