// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/crd"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// shareAcrossVersions makes the versions of each kind agree: versions without a setting take that
// of the others. An API server has one scope and one resource for all versions, and controller-gen
// reads the markers of all versions for its one CustomResourceDefinition.
func shareAcrossVersions(r *report.Report, apis []*api, crds []crd.Definition) {
	type groupKind struct{ group, kind string }
	versions := map[groupKind][]*kind{}
	for _, a := range apis {
		for _, k := range a.kinds {
			if a.group.Pos.Filename == "" { // reported
				k.setShared()
				continue
			}
			key := groupKind{a.group.Text, k.Name}
			versions[key] = append(versions[key], k)
		}
	}
	for _, same := range versions { // findings are sorted later
		share(r, "scope", same, func(k *kind) *Fact { return &k.scope })
		share(r, "resource", same, func(k *kind) *Fact { return &k.resource })
		for _, k := range same {
			k.setShared()
		}
		if hasCRD(crds, same[0].Name) {
			continue // checkCRDs compares the kind with its definitions
		}
		warnScopes(r, same)
		for _, k := range same {
			warnRules(r, k)
		}
	}
}

func (k *kind) setShared() {
	k.Namespaced, k.Resource = k.scope.Text == namespaced, k.resource.Text
}

// share gives all versions of a kind the value set by one of them, and reports versions with
// different values.
func share(r *report.Report, what string, versions []*kind, of func(*kind) *Fact) {
	var said *Fact
	for _, k := range versions {
		switch name := of(k); {
		case !name.Pos.IsValid():
		case said == nil:
			said = name
		case name.Text != said.Text:
			r.FailAt(name.Pos, fmt.Sprintf("%s %s of kind %s (%s) contradicts %s %s of another version at %s (%s): an API server has one for all versions",
				what, name.Text, k.Name, name.From, what, said.Text, r.Short(said.Pos), said.From))
		}
	}
	for _, k := range versions {
		if name := of(k); said != nil && !name.Pos.IsValid() {
			*name = *said
		}
	}
}

// warnScopes warns about a kind that is cluster-scoped for client-gen and namespaced for
// controller-gen.
func warnScopes(r *report.Report, versions []*kind) {
	for _, k := range versions {
		for _, m := range marker.All[kubebuilder.Resource](k.decl.markers) {
			if m.Scope.IsSet() {
				return
			}
		}
	}
	for _, k := range versions {
		client, by := marker.First[marker.NonNamespaced](k.decl.markers), k.decl.controllerGen()
		if client != nil && by != nil {
			r.Warn(client.At, client.Pos,
				fmt.Sprintf("makes %s cluster-scoped, which controller-gen (%s at %s) doesn't read: %s",
					k.Name, by.Where().Name, r.Short(by.Where().Pos), k.api.advice("+kubebuilder:resource:scope=Cluster too", "scope: Cluster")))
		}
	}
}

// warnRules warns about a kind with different resources by the rules of client-gen and
// controller-gen, if both are at work and no marker decides.
func warnRules(r *report.Report, k *kind) {
	client, by := marker.First[marker.Genclient](k.decl.markers), k.decl.controllerGen()
	byGengo := strings.ToLower(k.plural.Text)
	if client == nil || by == nil || k.resource.From != ruleOfFlect || k.resource.Text == byGengo {
		return
	}
	r.WarnAt(k.pos,
		fmt.Sprintf("the resource of %s is %s by the rules of client-gen (%s) and %s by those of controller-gen (%s), which is used: %s",
			k.Name, byGengo, client.Name, k.resource.Text, by.Where().Name,
			k.api.advice("+kubebuilder:resource:path=NAME or +resourceName=NAME", "resource: NAME")))
}
