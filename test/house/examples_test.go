// SPDX-License-Identifier: Apache-2.0

package house

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

const fewestExamples = 2

// notImported are folders at the root whose packages nothing outside of the repository imports.
var notImported = []string{"bench", "cmd", "examples", "test"}

// fewerExamples are packages that may have fewer than fewestExamples, with the reason. A name that
// ends in /... stands for the packages below a folder.
var fewerExamples = map[string]string{
	"templates": "it is a part of the generator, whose model no other program makes",
}

// TestPublicPackagesHaveExamples counts the examples whose output is compared, and those that a
// test of the package calls: the latter need a testing.T, which an example lacks.
func TestPublicPackagesHaveExamples(t *testing.T) {
	folders := goFiles(t)
	used := map[string]bool{}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if !public(folder, folders[folder]) {
			continue
		}
		switch n, exception := runExamples(folders[folder]), exceptionOf(fewerExamples, folder); {
		case exception == "" && n < fewestExamples:
			t.Errorf("%s has %d examples that run, %d at least", folder, n, fewestExamples)
		case n < fewestExamples || strings.HasSuffix(exception, "/..."):
			used[exception] = true
		}
	}
	for exception := range fewerExamples {
		if !used[exception] {
			t.Errorf("%s needs no exception: it has enough examples, or is gone", exception)
		}
	}
}

// public reports whether programs outside of the repository can import the package of a folder, and
// use something of it.
func public(folder string, files []goFile) bool {
	parts := strings.Split(folder, "/")
	return !slices.Contains(notImported, parts[0]) && !slices.Contains(parts, "internal") && !slices.Contains(parts, "cmd") &&
		files[0].file.Name.Name != "main" && exported(files) > 0
}

// exceptionOf returns the key of exceptions that covers a folder, or "".
func exceptionOf(exceptions map[string]string, folder string) string {
	for name := range exceptions {
		if above, all := strings.CutSuffix(name, "/..."); folder == name || all && strings.HasPrefix(folder, above+"/") {
			return name
		}
	}
	return ""
}

// runExamples counts the examples of a package that run in its tests.
func runExamples(files []goFile) (n int) {
	var tests []*ast.File
	called := map[string]bool{} // by tests
	for _, f := range files {
		if !strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		tests = append(tests, f.file)
		for _, decl := range f.file.Decls {
			if test, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(test.Name.Name, "Test") {
				ast.Inspect(test.Body, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if f, ok := call.Fun.(*ast.Ident); ok {
							called[f.Name] = true
						}
					}
					return true
				})
			}
		}
	}
	for _, example := range doc.Examples(tests...) {
		if example.Output != "" || example.EmptyOutput || called["Example"+example.Name] {
			n++
		}
	}
	return n
}

func TestExamplesAreCounted(t *testing.T) {
	files := []goFile{
		parsedAs(t, "a.go", "package a\n\n// Output: no test\nfunc Example() {}"),
		parsedAs(t, "a_test.go", `package a_test

func Example() {
	// Output: a
}

func ExampleOf_called() {}

func ExampleOf_compiled() {}

func TestExamples(t *testing.T) { ExampleOf_called() }
`),
	}
	if n := runExamples(files); n != 2 {
		t.Errorf("%d examples run, want 2", n)
	}
	for folder, want := range map[string]string{"a": "", "a/b": "a/...", "ab": "", "c": "c"} {
		if got := exceptionOf(map[string]string{"a/...": "", "c": ""}, folder); got != want {
			t.Errorf("the exception of %s is %q, want %q", folder, got, want)
		}
	}
}

func parsedAs(t *testing.T, path, content string) goFile {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, content, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return goFile{path, linesOf([]byte(content)), file, set}
}
