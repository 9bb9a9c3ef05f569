// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/marker/kubebuilder"
)

// shareAcrossVersions makes the versions of each kind agree. An API server has one scope and one
// resource for all of them, and controller-gen reads the markers of all versions for the one
// CustomResourceDefinition that it writes: so what some versions say holds for those that say
// nothing.
func (r *resolver) shareAcrossVersions(apis []*api) {
	type groupKind struct{ group, kind string }
	versions := map[groupKind][]*kind{}
	for _, a := range apis {
		if a.group.pos.Filename == "" {
			continue // reported
		}
		for _, k := range a.kinds {
			key := groupKind{a.group.text, k.Name}
			versions[key] = append(versions[key], k)
		}
	}
	for _, same := range versions { // findings are sorted in the end
		r.share("scope", same, func(k *kind) *named { return &k.scope })
		r.share("resource", same, func(k *kind) *named { return &k.resource })
		for _, k := range same {
			k.Namespaced, k.Resource = k.scope.text == namespaced, k.resource.text
		}
		if r.hasCRD(same[0].Name) {
			continue // which says what is right
		}
		r.scopesDiffer(same)
		for _, k := range same {
			r.rulesDiffer(k)
		}
	}
}

// share gives all versions of a kind the name that one of them says, and reports others that say
// another one.
func (r *resolver) share(what string, versions []*kind, of func(*kind) *named) {
	var said *named
	for _, k := range versions {
		switch name := of(k); {
		case !name.pos.IsValid():
		case said == nil:
			said = name
		case name.text != said.text:
			r.failAt(name.pos, fmt.Sprintf("%s %s of kind %s (%s) contradicts %s %s of another version at %s (%s): an API server has one for all versions",
				what, name.text, k.Name, name.from, what, said.text, r.short(said.pos), said.from))
		}
	}
	for _, k := range versions {
		if name := of(k); said != nil && !name.pos.IsValid() {
			*name = *said
		}
	}
}

// scopesDiffer warns about a kind that is cluster-scoped by what client-gen reads and namespaced by
// what controller-gen reads.
func (r *resolver) scopesDiffer(versions []*kind) {
	for _, k := range versions {
		for _, m := range marker.All[kubebuilder.Resource](k.declared.markers) {
			if m.Scope.IsSet() {
				return
			}
		}
	}
	for _, k := range versions {
		client, by := marker.First[marker.NonNamespaced](k.declared.markers), k.declared.controllerGen()
		if client != nil && by != nil {
			r.report.Add(diag.Diagnostic{
				Pos: client.Pos, Marker: client.Name, Warning: true,
				Message: fmt.Sprintf("makes %s cluster-scoped, which controller-gen (%s at %s) doesn't read: %s",
					k.Name, by.Where().Name, r.short(by.Where().Pos), k.api.advice("+kubebuilder:resource:scope=Cluster too", "scope: Cluster")),
			})
		}
	}
}

// rulesDiffer warns about a kind whose resource is another one by the rules of client-gen and of
// controller-gen, if both are at work and nothing is said.
func (r *resolver) rulesDiffer(k *kind) {
	client, by := marker.First[marker.Genclient](k.declared.markers), k.declared.controllerGen()
	byGengo := strings.ToLower(k.plural.text)
	if client == nil || by == nil || k.resource.from != ruleOfFlect || k.resource.text == byGengo {
		return
	}
	r.report.Add(diag.Diagnostic{
		Pos: k.pos, Warning: true,
		Message: fmt.Sprintf("the resource of %s is %s by the rules of client-gen (%s) and %s by those of controller-gen (%s), which is taken: %s",
			k.Name, byGengo, client.Name, k.resource.text, by.Where().Name,
			k.api.advice("+kubebuilder:resource:path=NAME or +resourceName=NAME", "resource: NAME")),
	})
}
