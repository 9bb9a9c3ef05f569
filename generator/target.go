// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/output"
)

// DefaultOutput is the default output folder, beside go.mod.
const DefaultOutput = "generated"

type target struct {
	dir        string // absolute
	goMod      string // absolute name of the file
	importPath string
	layout     model.Layout
	pkg        string // package name in the layout Single
}

// findTarget returns the output folder and its import path. Errors name folders relative to dir.
func findTarget(dir string, output setting, main goModule, layout model.Layout) (target, error) {
	if !output.isSet() {
		output = setting{text: DefaultOutput, dir: main.dir}
	}
	if output.text == "-" {
		return target{}, errors.New("the output - isn't a folder: informer-gen diff shows what would be written")
	}
	out := filepath.Clean(output.path())
	for d := out; d != filepath.Dir(d); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && !info.IsDir() {
			return target{}, fmt.Errorf("the output %s: %s is a file, not a folder", output.text, diag.ShortPath(dir, d))
		} else if err == nil {
			break
		} else if _, err := os.Lstat(d); err == nil {
			return target{}, fmt.Errorf("the output %s: %s is a broken link", output.text, diag.ShortPath(dir, d))
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
			return target{}, fmt.Errorf("the output %s is in a folder %q, which the go command ignores", diag.ShortPath(dir, out), part)
		}
	}
	to := target{dir: out, goMod: filepath.Join(mod.dir, "go.mod"), importPath: path.Join(mod.path, filepath.ToSlash(rel)), layout: layout}
	if err := module.CheckImportPath(to.importPath); err != nil {
		return target{}, fmt.Errorf("the output %s can't be imported: %w", diag.ShortPath(dir, out), err)
	}
	if layout == model.Single {
		to.pkg, err = packageName(to)
	}
	return to, err
}

// contains reports whether importPath is a generated package.
func (t target) contains(importPath string) bool {
	if t.layout == model.Single {
		return importPath == t.importPath
	}
	rest, ok := strings.CutPrefix(importPath, t.importPath+"/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains(output.Subfolders(), first)
}

// owns reports whether the generator writes into dir, whose path has no links.
func (t target) owns(dir string) bool {
	out := t.dir
	if resolved, err := filepath.EvalSymlinks(out); err == nil {
		out = resolved
	}
	for _, sub := range output.Subfolders() {
		rel, err := filepath.Rel(filepath.Join(out, sub), dir)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			// The layout Single owns these folders only if they hold nothing but files of the other
			// layout.
			return t.layout == model.Grouped || len(output.Handwritten(dir)) == 0
		}
	}
	return false
}
