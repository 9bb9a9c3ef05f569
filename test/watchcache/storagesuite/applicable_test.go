// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readExcluded returns the excluded suites. In the file each stands below its reason.
func readExcluded(t *testing.T) map[string]bool {
	t.Helper()
	content, err := os.ReadFile("testdata/not-applicable.txt")
	if err != nil {
		t.Fatal(err)
	}
	excluded, reason := map[string]bool{}, ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if text, ok := strings.CutPrefix(line, "== "); ok {
			reason = text
			continue
		}
		if reason == "" || excluded[line] {
			t.Errorf("testdata/not-applicable.txt: %s has no reason, or is there twice", line)
		}
		excluded[line] = true
	}
	return excluded
}

// TestEachSuiteIsRunOrExcluded compares the run and the excluded suites with the exports of the
// package.
func TestEachSuiteIsRunOrExcluded(t *testing.T) {
	excluded, exported := readExcluded(t), exportedSuites(t)
	for name := range exported {
		switch isRun := suites[name] != nil; {
		case !isRun && !excluded[name]:
			t.Errorf("%s is neither run nor in testdata/not-applicable.txt", name)
		case isRun && excluded[name]:
			t.Errorf("%s is run, but in testdata/not-applicable.txt", name)
		}
	}
	for name := range suites {
		if !exported[name] {
			t.Errorf("%s is run, but the package does not export this name", name)
		}
	}
	for name := range excluded {
		if !exported[name] {
			t.Errorf("%s is excluded, but not exported", name)
		}
	}
}

// exportedSuites returns the names of the package's functions that run tests or benchmarks.
func exportedSuites(t *testing.T) map[string]bool {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := build.Import("k8s.io/apiserver/pkg/storage/testing", here, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range pkg.GoFiles {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Run") {
				names[f.Name.Name] = true
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("the package exports no suite")
	}
	return names
}
