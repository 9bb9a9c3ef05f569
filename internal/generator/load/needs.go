// SPDX-License-Identifier: Apache-2.0

package load

import "golang.org/x/tools/go/packages"

// Needs returns the first path in sorted order that satisfies match, among the direct and indirect
// imports of pkg; "" if there is none.
func (p *Program) Needs(pkg *Package, match func(path string) bool) string {
	return needs(pkg.meta, match)
}

// Needs reports whether the package imports the one at path, directly or not.
func (p *CodePackage) Needs(path string) bool {
	return needs(p.meta, func(other string) bool { return other == path }) != ""
}

func needs(of *packages.Package, match func(path string) bool) (first string) {
	seen := map[string]bool{}
	var visit func(*packages.Package)
	visit = func(meta *packages.Package) {
		for path, dep := range meta.Imports {
			if seen[dep.ID] {
				continue
			}
			seen[dep.ID] = true
			if match(path) && (first == "" || path < first) {
				first = path
			}
			visit(dep)
		}
	}
	visit(of)
	return first
}
