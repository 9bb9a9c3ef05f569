// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Sources are the files and folders that decide what a call of Load, Import and Check finds, apart
// from the go command, its environment and what go.sum vouches for. All names are absolute.
type Sources struct {
	// Folders have the packages that may change: those of the main module, the workspace, modules
	// that are replaced by a folder, and vendored ones. Their contents are what was read of them,
	// by file name; ignored and unneeded files have none. A folder that had no package when another
	// one imported it has no files.
	Folders map[string]map[string][sha256.Size]byte
	// Trees are folders in which, or below which, another package would match a pattern.
	Trees []string
	// Files are those of modules and workspaces, such as go.mod, whether they are there or not.
	Files []string
}

// Sources returns what p was loaded from. Folders for which Config.Skip returns true aren't among
// them. No other method may run at the same time.
func (p *Program) Sources() Sources {
	s := Sources{Folders: map[string]map[string][sha256.Size]byte{}}
	modules := p.modules()
	files := map[string]bool{}
	for _, up := range upwards(p.cfg.Dir) {
		files[filepath.Join(up, "go.mod")] = true
		files[filepath.Join(up, "go.work")] = true
	}
	for path, meta := range p.checker.metas {
		dir := meta.Dir
		if dir == "" {
			dir = expected(modules, path)
		}
		if dir == "" || !changes(meta) || p.inGoroot(meta) || p.cfg.Skip != nil && p.cfg.Skip(dir) {
			continue
		}
		s.Folders[dir] = p.read(meta)
		for _, up := range upwards(dir) { // a go.mod on the way would make it another module
			files[filepath.Join(up, "go.mod")] = true
		}
	}
	for _, module := range modules {
		for _, name := range []string{"go.mod", "go.sum", "vendor/modules.txt"} {
			files[filepath.Join(module, filepath.FromSlash(name))] = true
		}
	}
	if work := p.cfg.workspace(); work != "" {
		files[work], files[work+".sum"] = true, true
		files[filepath.Join(filepath.Dir(work), "vendor", "modules.txt")] = true
	}
	s.Files = slices.Sorted(maps.Keys(files))
	s.Trees = p.cfg.trees(slices.Collect(maps.Values(modules)))
	return s
}

// changes reports whether the files of a package may change while the go.sum stays. It takes the
// standard library for such a package.
func changes(meta *packages.Package) bool {
	module := meta.Module
	if module != nil && module.Replace != nil {
		module = module.Replace
	}
	// Vendored packages have a version too, but not in the name of their folder.
	return module == nil || module.Version == "" || !strings.Contains(filepath.ToSlash(meta.Dir), "@"+module.Version)
}

// inGoroot reports whether a package belongs to the standard library.
func (p *Program) inGoroot(meta *packages.Package) bool {
	unsafe := p.checker.metas["unsafe"]
	if meta.Module != nil || unsafe == nil || unsafe.Dir == "" {
		return meta.PkgPath == "unsafe"
	}
	src := filepath.Dir(unsafe.Dir) + string(filepath.Separator)
	return strings.HasPrefix(meta.Dir, src)
}

// read returns what was read of a package.
func (p *Program) read(meta *packages.Package) map[string][sha256.Size]byte {
	p.checker.reader.mu.Lock()
	defer p.checker.reader.mu.Unlock()
	contents := map[string][sha256.Size]byte{}
	for _, name := range slices.Concat(meta.GoFiles, meta.IgnoredFiles) {
		if sum, ok := p.checker.seen[name]; ok {
			contents[filepath.Base(name)] = sum
		}
	}
	return contents
}

// trees returns the folders below which the patterns with wildcards may match a package. modules
// are the folders of modules.
func (c Config) trees(modules []string) []string {
	trees := map[string]bool{}
	for _, pattern := range c.Patterns {
		before, _, wild := strings.Cut(pattern, "...")
		switch {
		case pattern == "all", pattern == "work", wild && !named(pattern):
			for _, dir := range modules {
				trees[dir] = true
			}
		case wild:
			dir := filepath.FromSlash(before[:strings.LastIndexByte(before, '/')+1])
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(c.Dir, dir)
			}
			trees[filepath.Clean(dir)] = true
		}
	}
	return slices.Sorted(maps.Keys(trees))
}

// named reports whether a pattern is the name of a folder.
func named(pattern string) bool {
	return strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../") || filepath.IsAbs(pattern)
}

// upwards are dir and the folders above it.
func upwards(dir string) []string {
	dirs := []string{dir}
	for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
		dir = parent
		dirs = append(dirs, dir)
	}
	return dirs
}
