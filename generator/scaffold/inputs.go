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
	tops := map[string]bool{}
	for _, name := range folders {
		top, _, nested := strings.Cut(name, "/")
		if name == "." || !nested && len(folders) == 1 {
			break
		}
		tops[top] = true
	}
	if len(tops) == 1 {
		for top := range tops {
			p.Inputs = []string{"./" + top + "/..."}
		}
		return
	}
	p.Inputs = []string{"./..."}
}

// below reports whether the folder name is dir or lies in it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }
