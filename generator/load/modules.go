// SPDX-License-Identifier: Apache-2.0

package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

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
