// SPDX-License-Identifier: Apache-2.0

package load

import "golang.org/x/tools/go/packages"

// Needs returns the first path, in their order, that pkg or a package that it imports, directly or
// not, imports and for which match holds; "" if there is none.
func (p *Program) Needs(pkg *Package, match func(path string) bool) string {
	seen, first := map[string]bool{}, ""
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
	visit(pkg.meta)
	return first
}
