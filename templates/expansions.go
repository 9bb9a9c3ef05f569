// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func expansionsFile(p *pkg, source string, kinds []*kind) *file {
	f := newFile(p, "expansion_generated.go", source)
	for _, k := range kinds {
		if !k.ListerExpansion {
			f.addExpansion(k, k.Name+"Lister")
		}
		if k.Namespaced && !k.NamespaceListerExpansion {
			f.addExpansion(k, k.Name+"NamespaceLister")
		}
	}
	return f
}

func hasExpansions(kinds []*kind) bool {
	return slices.ContainsFunc(kinds, func(k *kind) bool {
		return !k.ListerExpansion || k.Namespaced && !k.NamespaceListerExpansion
	})
}

func (f *file) addExpansion(k *kind, name string) {
	f.add(commentf("%sExpansion adds methods to %s: declare it in %s instead.", name, name, expansionFile(k.Type)).
		Type().Id(name + "Expansion").Interface())
}

// expansionFile returns the name of the file in ListerDir where the user may declare the expansion
// interfaces of t.
func expansionFile(t *model.Type) string {
	return t.File() + "_expansion.go"
}
