// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/resolve"
)

type goModule struct {
	dir  string // absolute
	path string
}

// findModule returns the module around dir, which need not exist.
func findModule(dir string) (goModule, error) {
	for d := dir; ; {
		file := filepath.Join(d, "go.mod")
		data, err := os.ReadFile(file)
		switch {
		case err == nil:
			modulePath := modfile.ModulePath(data)
			if modulePath == "" {
				return goModule{}, fmt.Errorf("%s has no module path", file)
			}
			return goModule{dir: d, path: modulePath}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return goModule{}, fmt.Errorf("looking for the module of %s: %w", dir, err)
		}
		parent := filepath.Dir(d)
		if parent == d {
			return goModule{}, fmt.Errorf("%s isn't in a Go module: there is no go.mod in it or above it", dir)
		}
		d = parent
	}
}

// workspaceOf returns the folder of the go.work around dir, or dir itself.
func workspaceOf(dir string) string {
	for d := dir; ; {
		if _, err := os.Stat(filepath.Join(d, "go.work")); err == nil {
			return d
		}
		parent := filepath.Dir(d)
		if parent == d {
			return dir
		}
		d = parent
	}
}

// realDir returns the absolute name of a folder, with links resolved if it exists: the go command
// names files by their real paths.
func realDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return dir, nil
}

// nestedModules names, for the end of a message, modules below the loaded folder that may have API
// types. A pattern with ... doesn't enter them.
func (s settings) nestedModules() string {
	if !slices.ContainsFunc(s.loading.Patterns, func(p string) bool { return strings.Contains(p, "...") }) {
		return ""
	}
	var modules []goModule
	typesIn := map[string]bool{} // by folder
	_ = filepath.WalkDir(s.loading.Dir, func(name string, entry fs.DirEntry, err error) error {
		base := entry.Name()
		switch {
		case err != nil:
			return nil // unreadable
		case entry.IsDir() && name != s.loading.Dir && (base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case base == "go.mod" && filepath.Dir(name) != s.loading.Dir:
			if m, err := findModule(filepath.Dir(name)); err == nil {
				modules = append(modules, m)
			}
		case strings.HasSuffix(base, ".go"):
			if data, err := os.ReadFile(name); err == nil && resolve.LooksLikeAPI(data) {
				typesIn[filepath.Dir(name)] = true
			}
		}
		return nil
	})
	text := ""
	for _, m := range modules {
		for dir := range typesIn {
			if dir == m.dir || strings.HasPrefix(dir, m.dir+string(filepath.Separator)) {
				text += fmt.Sprintf("; %s is a separate module, which ... doesn't enter: run informer-gen there, or require it and name its packages, for example %s/...",
					filepath.ToSlash(diag.ShortPath(s.dir, m.dir)), m.path)
				break
			}
		}
	}
	return text
}
