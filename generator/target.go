// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/internal/resolve"
	"github.com/informer-gen/informer-gen/generator/model"
	"github.com/informer-gen/informer-gen/generator/output"
)

// DefaultOutput is the output folder beside go.mod that is used when none is given.
const DefaultOutput = "generated"

// target is where the output goes.
type target struct {
	dir        string // absolute
	importPath string
	layout     model.Layout
	pkg        string // the name of the package in the layout Single
}

// goModule is a folder with a go.mod.
type goModule struct {
	dir  string // absolute
	path string
}

// findModule returns the module that dir, which need not exist, belongs to.
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
			return goModule{}, fmt.Errorf("%s lies in no Go module: there is no go.mod in it or above it", dir)
		}
		d = parent
	}
}

// nested names the modules below the folder that is read which may have API types; "" if there are
// none. No pattern with ... enters them.
func (s settings) nested() string {
	if !slices.ContainsFunc(s.loading.Patterns, func(p string) bool { return strings.Contains(p, "...") }) {
		return ""
	}
	var modules []goModule
	typesIn := map[string]bool{} // by folder of a module
	_ = filepath.WalkDir(s.loading.Dir, func(name string, entry fs.DirEntry, err error) error {
		base := entry.Name()
		switch {
		case err != nil:
			return nil // what can't be read has nothing to say
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
				text += fmt.Sprintf("; %s is a module of its own, which ... doesn't enter: run informer-gen there, or require it and name its packages, as in %s/...",
					filepath.ToSlash(diag.ShortPath(s.dir, m.dir)), m.path)
				break
			}
		}
	}
	return text
}

// findTarget decides the output folder, which is DefaultOutput beside the go.mod of main unless
// output is set, and its import path. dir is what errors name folders relative to.
func findTarget(dir string, output setting, main goModule, layout model.Layout) (target, error) {
	if !output.isSet() {
		output = setting{text: DefaultOutput, dir: main.dir}
	}
	if output.text == "-" {
		return target{}, errors.New("the output - is no folder: informer-gen diff shows what would be written")
	}
	out := filepath.Clean(output.path())
	for d := out; d != filepath.Dir(d); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && !info.IsDir() {
			return target{}, fmt.Errorf("the output %s: %s is a file, not a folder", output.text, diag.ShortPath(dir, d))
		} else if err == nil {
			break
		} else if _, err := os.Lstat(d); err == nil {
			return target{}, fmt.Errorf("the output %s: %s is a link that leads nowhere", output.text, diag.ShortPath(dir, d))
		}
	}
	mod, err := findModule(out)
	if err != nil {
		return target{}, fmt.Errorf("the output %s can't be imported: %w", output.text, err)
	}
	rel, err := filepath.Rel(mod.dir, out)
	if err != nil {
		return target{}, fmt.Errorf("the output %s: %w", output.text, err)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if part == "testdata" || part == "vendor" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return target{}, fmt.Errorf("the output %s lies in a folder %q, which the go command passes over", diag.ShortPath(dir, out), part)
		}
	}
	to := target{dir: out, importPath: path.Join(mod.path, filepath.ToSlash(rel)), layout: layout}
	if err := module.CheckImportPath(to.importPath); err != nil {
		return target{}, fmt.Errorf("the output %s can't be imported: %w", diag.ShortPath(dir, out), err)
	}
	if layout == model.Single {
		to.pkg, err = packageName(to)
	}
	return to, err
}

// has reports whether the package at an import path is a generated one.
func (t target) has(importPath string) bool {
	if t.layout == model.Single {
		return importPath == t.importPath
	}
	rest, ok := strings.CutPrefix(importPath, t.importPath+"/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains(output.Subfolders(), first)
}

// owns reports whether a folder, which has no links in its path, is one that the generator writes
// into.
func (t target) owns(dir string) bool {
	out := t.dir
	if resolved, err := filepath.EvalSymlinks(out); err == nil {
		out = resolved
	}
	for _, sub := range output.Subfolders() {
		rel, err := filepath.Rel(filepath.Join(out, sub), dir)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			// In the layout Single these folders are only ours if the other layout has left files
			// there.
			return t.layout == model.Grouped || len(output.Handwritten(dir)) == 0
		}
	}
	return false
}
