// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"github.com/informer-gen/informer-gen/internal/generator/index"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// owners returns the possible owner kinds: the built-in ones, those of CustomResourceDefinitions,
// and all kinds of the loaded packages, generated or not.
func owners(in Input, apis []*api) *index.Owners {
	all := index.NewOwners(in.Partial)
	for _, c := range in.CRDs {
		all.Add(c.Group.Text, c.Kind.Text)
	}
	for _, a := range apis {
		group, known := a.group.Text, a.group.Pos.Filename != ""
		if m := marker.First[marker.GroupName](a.markers); !known && m != nil {
			group, known = m.Name.Text, true // from a package without kinds
		}
		for _, d := range a.decls {
			if known && d.spec.Name.IsExported() && (d.candidate() || embeds(a, d, "ObjectMeta")) {
				all.Add(group, d.spec.Name.Name)
			}
		}
	}
	return all
}
