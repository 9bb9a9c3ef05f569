// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/generator/config"
	"github.com/informer-gen/informer-gen/internal/generator/load"
)

// GoldensAfter removes flags and configuration files from the goldens, lets configure write another
// file for each, and generates with it. Goldens with generated files must generate again, except
// for the refused ones, by name and reason. The others may have errors in their packages, but not
// in the file from configure.
//
// It serves tests of packages that import this one.
func GoldensAfter(t *testing.T, configure func(dir string) error, refused map[string]string) {
	t.Helper()
	goldens, generates := readGoldens(t), map[string]bool{}
	for _, g := range goldens {
		g.config = Config{}
		g.archive.Files = slices.DeleteFunc(g.archive.Files, func(file txtar.File) bool {
			generates[g.name] = generates[g.name] || file.Name == "want/files"
			return filepath.Base(file.Name) == config.FileName
		})
	}
	workspace := makeWorkspace(t, goldens)
	loading := load.Config{Dir: workspace}
	for _, g := range goldens {
		if err := configure(g.dir); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if g.settings, g.wrong = g.config.settings(); len(g.wrong) > 0 {
			t.Fatalf("%s: %v", g.name, g.wrong.Relative(g.dir))
		}
		loading.Patterns = append(loading.Patterns, g.patterns(workspace)...)
	}
	loading.Skip = func(dir string) bool {
		return slices.ContainsFunc(goldens, func(g *golden) bool { return g.settings.target.owns(dir) })
	}
	program, err := load.Load(t.Context(), loading)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens {
		roots := g.roots(workspace, program)
		files, findings, err := g.generate(t, program, roots)
		if err == nil && len(files) == 0 {
			err = ErrNothing
		}
		if err == nil {
			err = checkCovered(t.Context(), g.settings.loading, g.settings.target, roots)
		}
		for _, d := range findings {
			if filepath.Base(d.Pos.Filename) == config.FileName {
				t.Errorf("%s: %v", g.name, d)
			}
		}
		switch _, is := refused[g.name]; {
		case generates[g.name] && !is && err != nil:
			t.Errorf("%s: %v\n%v", g.name, err, findings.Relative(g.dir))
		case is && (!generates[g.name] || err == nil):
			t.Errorf("golden %s is not refused", g.name)
		}
	}
	for name := range refused {
		if !slices.ContainsFunc(goldens, func(g *golden) bool { return g.name == name }) {
			t.Errorf("there is no golden %s", name)
		}
	}
}
