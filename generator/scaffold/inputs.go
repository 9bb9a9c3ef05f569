// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"slices"
	"strings"
)

// inputs decides on the patterns: the folder in which the layout has its API types, if they all lie
// there, else as little of the module as has them all.
func (p *Project) inputs() {
	folders := p.Folders
	if len(folders) == 0 {
		for _, f := range p.packages {
			folders = append(folders, f.name)
		}
		p.Discover = len(folders) > 0
	}
	var candidates []string
	switch p.Layout {
	case Kubebuilder:
		candidates = []string{"api", "apis"}
	case CodeGenerator:
		candidates = []string{"pkg/apis", "apis"}
	}
	for _, candidate := range candidates {
		if !p.isFolder(candidate) {
			continue
		}
		if !slices.ContainsFunc(folders, func(name string) bool { return !below(name, candidate) }) {
			p.Inputs = []string{"./" + candidate + "/..."}
			return
		}
	}
	p.Inputs = []string{"./..."}
	if top := onlyTop(folders); top != "" {
		p.Inputs = []string{"./" + top + "/..."}
	}
}

// onlyTop returns the folder beside go.mod that all of the folders lie in; "" if there is none, or
// if it is the only folder itself.
func onlyTop(folders []string) string {
	if len(folders) == 0 || len(folders) == 1 && !strings.Contains(folders[0], "/") {
		return ""
	}
	top, _, _ := strings.Cut(folders[0], "/")
	if top == "." || slices.ContainsFunc(folders, func(name string) bool { return !below(name, top) }) {
		return ""
	}
	return top
}

// below reports whether the folder name is dir or lies in it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }
