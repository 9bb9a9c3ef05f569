// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/informer-gen/informer-gen/generator/diag"
)

// DefaultOutput is the output folder beside go.mod that is used when none is given.
const DefaultOutput = "generated"

// target is where the output goes.
type target struct {
	dir        string // absolute
	importPath string
}

// module is a folder with a go.mod.
type module struct {
	dir  string // absolute
	path string
}

// findModule returns the module that dir, which need not exist, belongs to.
func findModule(dir string) (module, error) {
	for d := dir; ; {
		file := filepath.Join(d, "go.mod")
		data, err := os.ReadFile(file)
		switch {
		case err == nil:
			modulePath := modfile.ModulePath(data)
			if modulePath == "" {
				return module{}, fmt.Errorf("%s has no module path", file)
			}
			return module{dir: d, path: modulePath}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return module{}, fmt.Errorf("looking for the module of %s: %w", dir, err)
		}
		parent := filepath.Dir(d)
		if parent == d {
			return module{}, fmt.Errorf("%s lies in no Go module: there is no go.mod in it or above it", dir)
		}
		d = parent
	}
}

// findTarget decides the output folder and its import path. output is relative to dir; if it is empty, it is
// DefaultOutput beside the go.mod of main.
func findTarget(dir, output string, main module) (target, error) {
	if output == "" {
		return target{filepath.Join(main.dir, DefaultOutput), path.Join(main.path, DefaultOutput)}, nil
	}
	out := output
	if !filepath.IsAbs(out) {
		out = filepath.Join(dir, out)
	}
	out = filepath.Clean(out)
	for d := out; d != filepath.Dir(d); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && !info.IsDir() {
			return target{}, fmt.Errorf("the output %s: %s is a file, not a folder", output, diag.ShortPath(dir, d))
		} else if err == nil {
			break
		} else if _, err := os.Lstat(d); err == nil {
			return target{}, fmt.Errorf("the output %s: %s is a link that leads nowhere", output, diag.ShortPath(dir, d))
		}
	}
	mod, err := findModule(out)
	if err != nil {
		return target{}, fmt.Errorf("the output %s can't be imported: %w", output, err)
	}
	rel, err := filepath.Rel(mod.dir, out)
	if err != nil {
		return target{}, fmt.Errorf("the output %s: %w", output, err)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if part == "testdata" || part == "vendor" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return target{}, fmt.Errorf("the output %s lies in a folder %q, which the go command passes over", diag.ShortPath(dir, out), part)
		}
	}
	return target{out, path.Join(mod.path, filepath.ToSlash(rel))}, nil
}

// owns says whether a folder, which has no links in its path, is one that the generator writes into.
func (t target) owns(dir string) bool {
	out := t.dir
	if resolved, err := filepath.EvalSymlinks(out); err == nil {
		out = resolved
	}
	for _, sub := range ourFolders {
		rel, err := filepath.Rel(filepath.Join(out, sub), dir)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
