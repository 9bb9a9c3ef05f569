// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// inputs chooses the patterns: the layout's folder for API types if they all lie there, else the
// smallest part of the module with all of them, without the folders left out.
func (p *Project) inputs() {
	folders := p.Folders
	if len(folders) == 0 {
		for _, f := range p.packages {
			folders = append(folders, f.name)
		}
		p.Discover = len(folders) > 0
	}
	if len(p.required) > 0 {
		for _, m := range p.required {
			dir := p.slashed(m.Dir)
			p.addInputs(m.Module, dir, dir, slices.DeleteFunc(slices.Clone(folders), func(name string) bool { return !below(name, dir) }))
		}
		return
	}
	var candidates []string
	switch p.Layout {
	case Kubebuilder:
		candidates = []string{"api", "apis"}
	case CodeGenerator:
		candidates = []string{"pkg/apis", "apis"}
	}
	for _, candidate := range candidates {
		if !p.isFolder(candidate) || p.exists(candidate+"/go.mod") {
			continue
		}
		if !slices.ContainsFunc(folders, func(name string) bool { return !below(name, candidate) }) {
			p.addInputs(".", ".", candidate, folders)
			return
		}
	}
	p.addInputs(".", ".", commonTop(folders), folders)
}

// addInputs adds patterns that match the folders, all in dir, and no folder left out. Patterns
// begin with base instead of root.
func (p *Project) addInputs(base, root, dir string, folders []string) {
	pattern := base
	if dir != root {
		pattern += "/" + strings.TrimPrefix(dir, root+"/")
	}
	if !slices.ContainsFunc(p.LeftOut, func(l LeftOut) bool { return below(l.Folder, dir) }) {
		p.Inputs = append(p.Inputs, pattern+"/...")
		return
	}
	if slices.Contains(folders, dir) {
		p.Inputs = append(p.Inputs, pattern)
	}
	children := map[string][]string{}
	for _, name := range folders {
		if name == dir {
			continue
		}
		child, _, _ := strings.Cut(strings.TrimPrefix(name, dir+"/"), "/")
		child = path.Join(dir, child)
		children[child] = append(children[child], name)
	}
	for _, child := range slices.Sorted(maps.Keys(children)) {
		p.addInputs(base, root, child, children[child])
	}
}

// commonTop returns the folder beside go.mod that contains all of the folders; "." if there is
// none, or if it is itself the only folder.
func commonTop(folders []string) string {
	if len(folders) == 0 || len(folders) == 1 && !strings.Contains(folders[0], "/") {
		return "."
	}
	top, _, _ := strings.Cut(folders[0], "/")
	if slices.ContainsFunc(folders, func(name string) bool { return !below(name, top) }) {
		return "."
	}
	return top
}

func below(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}
