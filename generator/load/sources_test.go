// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/sha256"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"
)

func TestSourcesAreAllThatARunReads(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := txtar.Parse([]byte(`
-- go.work --
go 1.26.0

use ./main
use ./used
-- used/go.mod --
module example.com/used

go 1.26.0
-- used/a/a.go --
package a

type A struct{}
-- replaced/go.mod --
module example.com/replaced

go 1.26.0
-- replaced/r.go --
package replaced
-- main/go.mod --
module example.com/main

go 1.26.0

require example.com/replaced v0.0.0
replace example.com/replaced => ../replaced
-- main/api/types.go --
package api

import (
	"fmt"

	"example.com/main/none"
	"example.com/replaced"
	"example.com/used/a"
)

type T struct{ A a.A }

var _, _ = fmt.Sprint(none.X), replaced.X
-- main/api/types_plan9.go --
package api
-- main/other/other.go --
package other
-- main/out/out.go --
package out
`)).Files
	for _, file := range files {
		name := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "")
	program, err := Load(t.Context(), Config{
		Dir: filepath.Join(dir, "main"), Patterns: []string{"./api", "./out/..."},
		Skip: func(dir string) bool { return filepath.Base(dir) == "out" },
	})
	if err != nil {
		t.Fatal(err)
	}
	program.Check(program.Roots...)
	s := program.Sources()
	rel := func(names ...string) string {
		for i, name := range names {
			if short, err := filepath.Rel(dir, name); err == nil {
				names[i] = filepath.ToSlash(short)
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	if got, want := rel(slices.Collect(maps.Keys(s.Folders))...), "main/api main/none replaced used/a"; got != want {
		t.Errorf("the folders are %s, want %s", got, want)
	}
	api := s.Folders[filepath.Join(dir, "main", "api")]
	if got, want := api["types.go"], sha256.Sum256(files[6].Data); len(api) != 1 || got != want {
		t.Errorf("of api, %d files were read, and %x of types.go, want %x", len(api), got, want)
	}
	if got := rel(s.Trees...); got != "main/out" {
		t.Errorf("the trees are %s", got)
	}
	for _, name := range []string{
		"go.work", "go.work.sum", "vendor/modules.txt", "main/go.mod", "main/go.sum", "main/go.work", "main/vendor/modules.txt", "main/api/go.mod",
		"used/go.mod", "used/a/go.mod", "replaced/go.mod", "replaced/go.sum",
	} {
		if !slices.Contains(s.Files, filepath.Join(dir, filepath.FromSlash(name))) {
			t.Errorf("%s is not among the files %v", name, s.Files)
		}
	}
}

func TestTreesAreWhereWildcardsMayMatch(t *testing.T) {
	c := Config{Dir: filepath.FromSlash("/src/a")}
	for patterns, want := range map[string]string{
		".":                       "",
		"./api example.com/m/api": "",
		"./...":                   "/src/a",
		"./api/... ../b/v...":     "/src/a/api /src/b",
		"./.../v1":                "/src/a",
		"/src/c/...":              "/src/c",
		"...":                     "/m /n",
		"example.com/m/...":       "/m /n",
		"all":                     "/m /n",
		"work ./x/...":            "/m /n /src/a/x",
	} {
		c.Patterns = strings.Fields(patterns)
		got := filepath.ToSlash(strings.Join(c.trees([]string{"/m", "/n"}), " "))
		if got != want {
			t.Errorf("%s: got %q, want %q", patterns, got, want)
		}
	}
}

func TestPackagesOutsideOfTheModuleCacheMayChange(t *testing.T) {
	for name, tc := range map[string]struct {
		meta packages.Package
		want bool
	}{
		"module cache":       {packages.Package{Dir: "/mod/example.com/m@v1.0.0/p", Module: &packages.Module{Version: "v1.0.0"}}, false},
		"main module":        {packages.Package{Dir: "/m/p", Module: &packages.Module{Main: true}}, true},
		"vendored":           {packages.Package{Dir: "/m/vendor/example.com/m/p", Module: &packages.Module{Version: "v1.0.0"}}, true},
		"replaced by folder": {packages.Package{Dir: "/lib", Module: &packages.Module{Version: "v1.0.0", Replace: &packages.Module{Path: "../lib"}}}, true},
		"replaced by module": {packages.Package{Dir: "/mod/example.com/n@v1.1.0", Module: &packages.Module{Version: "v1.0.0", Replace: &packages.Module{Version: "v1.1.0"}}}, false},
		"no module":          {packages.Package{Dir: "/go/src/p"}, true},
	} {
		if got := changes(&tc.meta); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestWorkspaceIsThatOfTheGoCommand(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.work"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		env  []string
		want string
	}{
		{[]string{}, filepath.Join(dir, "go.work")},
		{[]string{"GOWORK=off"}, ""},
		{[]string{"GOWORK=off", "GOWORK=/x/go.work"}, "/x/go.work"},
	} {
		if got := (Config{Dir: filepath.Join(dir, "a", "b"), Env: tc.env}).workspace(); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.env, got, tc.want)
		}
	}
}
