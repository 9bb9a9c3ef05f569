// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const bodiesModule = `
-- a/a.go --
package a

import (
	"example.com/m/b"
	"example.com/m/c"
)

func A() *int { return new(b.B() + c.C()) }
-- b/b.go --
package b

import "net/http"

func B() int { return http.StatusOK }
-- c/c.go --
package c

func C() int { return missing }
-- wrong/wrong.go --
package wrong

func W() int { return missing }
-- lost/lost.go --
package lost

import "example.com/nowhere/lost"

func L() int { return lost.L() }
-- go.mod --
module example.com/m

go 1.26.0
`

// bodies loads the packages as another module's, except for those of the patterns.
func bodies(t *testing.T, wanted func(*CodePackage) bool, use func(*CodePackage), patterns ...string) (*Code, error) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(bodiesModule)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	return Bodies(t.Context(), token.NewFileSet(), Config{Dir: dir, Patterns: patterns}, func(p *CodePackage) bool {
		p.Main = false
		return wanted(p)
	}, use)
}

func TestBodiesLoadsWantedPackages(t *testing.T) {
	used := map[string]bool{} // with syntax or without
	code, err := bodies(t, func(p *CodePackage) bool { return p.Path == "example.com/m/c" }, func(p *CodePackage) {
		for _, path := range p.Imports {
			if _, ok := used[path]; !ok && strings.HasPrefix(path, "example.com/") {
				t.Errorf("%s is used before %s, which it imports", p.Path, path)
			}
		}
		if _, ok := used[p.Path]; ok {
			t.Errorf("%s is used twice", p.Path)
		}
		used[p.Path] = p.Files != nil && p.Info != nil
	}, "./a")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*CodePackage{}
	for _, p := range code.Packages {
		for _, path := range p.Imports {
			if strings.HasPrefix(path, "example.com/") && found[path] == nil {
				t.Errorf("%s comes before %s, which it imports", p.Path, path)
			}
		}
		found[p.Path] = p
	}
	for path, want := range map[string]bool{
		"example.com/m/a": true,
		"example.com/m/b": false, // not wanted
		"example.com/m/c": false, // wanted, but wrong
	} {
		p := found[path]
		if got, ok := used[path]; !ok || got != want || p == nil || p.Types == nil || p.Bodies != want {
			t.Errorf("%s: got %+v, want Bodies %v", path, p, want)
			continue
		}
		if p.Files != nil || p.Info != nil {
			t.Errorf("%s still has its syntax", path)
		}
		if name := strings.ToUpper(path[len(path)-1:]); p.Types.Scope().Lookup(name) == nil {
			t.Errorf("%s has no function %s", path, name)
		}
	}
	if found["net/http"] != nil {
		t.Error("net/http is loaded, though only an unwanted function body needs it")
	}
	if !found["example.com/m/a"].Root || found["example.com/m/b"].Root {
		t.Error("Root is wrong: only the pattern's package is one")
	}
}

func TestBodiesReportsErrors(t *testing.T) {
	never := func(*CodePackage) bool { return false }
	for pattern, want := range map[string]string{
		"./wrong":   "wrong.go:3:23: undefined: missing",
		"./nowhere": "directory not found",
		"./lost":    "lost.go:3:8: could not import example.com/nowhere/lost (no required module provides package example.com/nowhere/lost; to add it: go get example.com/nowhere/lost)",
		"a/a.go":    "a Go file isn't a package pattern",
	} {
		use := func(p *CodePackage) {
			if p.Root {
				t.Errorf("%s is used, though it is wrong", p.Path)
			}
		}
		if _, err := bodies(t, never, use, pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", pattern, err, want)
		}
	}
}
