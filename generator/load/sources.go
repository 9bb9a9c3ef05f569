// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/sha256"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// Sources are the places on disk that decide what a call of Load, Import and Check finds, apart
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

// modules returns the folders of the modules that lie in folders of the user, by their paths.
func (p *Program) modules() map[string]string {
	modules := map[string]string{}
	add := func(dir string) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return
		}
		file, err := modfile.ParseLax("go.mod", data, nil)
		if err != nil || file.Module == nil {
			return
		}
		modules[file.Module.Mod.Path] = dir
	}
	for _, up := range upwards(p.cfg.Dir) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			add(up)
			break
		}
	}
	if work := p.cfg.workspace(); work != "" {
		for _, dir := range used(work) {
			add(dir)
		}
	}
	for _, meta := range p.checker.metas {
		module := meta.Module
		if module != nil && module.Replace != nil {
			module = module.Replace
		}
		if module != nil && module.Version == "" && module.Dir != "" {
			modules[meta.Module.Path] = module.Dir
		}
	}
	return modules
}

// expected is the folder in which the package of that import path would lie if it were there; "" if
// it would lie in none of the modules.
func expected(modules map[string]string, importPath string) string {
	best := ""
	for path := range modules {
		if (importPath == path || strings.HasPrefix(importPath, path+"/")) && len(path) > len(best) {
			best = path
		}
	}
	if best == "" {
		return ""
	}
	return filepath.Join(modules[best], filepath.FromSlash(strings.TrimPrefix(importPath, best)))
}

// workspace returns the name of the go.work that the go command uses, or "".
func (c Config) workspace() string {
	switch work := c.getenv("GOWORK"); work {
	case "off":
		return ""
	case "":
	default:
		return work
	}
	for _, up := range upwards(c.Dir) {
		name := filepath.Join(up, "go.work")
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

// used returns the folders that a go.work names.
func used(work string) []string {
	data, err := os.ReadFile(work)
	if err != nil {
		return nil
	}
	file, err := modfile.ParseWork(work, data, nil)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, use := range file.Use {
		dir := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(work), dir)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// getenv returns the last value that the environment of the go command gives to a variable.
func (c Config) getenv(name string) string {
	env := c.Env
	if env == nil {
		return os.Getenv(name)
	}
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
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
