// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/marker/kubebuilder"
)

// hasCRD reports whether there is a definition of the kind in whatever group.
func (r *resolver) hasCRD(kind string) bool {
	return slices.ContainsFunc(r.crds, func(c crd) bool { return c.kind.text == kind })
}

// checkCRDs holds kinds against the definitions of the same group and kind. Definitions of groups
// that no package has are others' business, and so are the groups of Kubernetes itself, which have
// no definitions.
func (r *resolver) checkCRDs(apis []*api) {
	if len(r.crds) == 0 {
		return
	}
	groups := map[string]bool{}
	for _, c := range r.crds {
		groups[c.group.text] = true
	}
	for _, a := range apis {
		if a.group.pos.Filename == "" || a.version.text == "" {
			continue // reported
		}
		for _, k := range a.kinds {
			var same []crd // there may be one for each set of features, or for each version
			for _, c := range r.crds {
				if c.group.text == a.group.text && c.kind.text == k.Name {
					same = append(same, c)
					r.checkCRD(a, k, c)
				}
			}
			if len(same) > 0 {
				r.checkServed(a, k, same)
			}
			if len(same) > 0 || r.otherGroup(apis, a, k) || builtIn(a.group.text) && !groups[a.group.text] {
				continue
			}
			r.report.Add(diag.Diagnostic{
				Pos: k.pos, Warning: true,
				Message: fmt.Sprintf("none of the CustomResourceDefinitions is that of kind %s in group %s", k.Name, a.group.text),
			})
		}
	}
	r.withoutType(apis)
}

// builtIn reports whether a group may be one that the API server has without a
// CustomResourceDefinition.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// otherGroup reports a kind that all definitions have in other groups, if its own group has none at
// all. Definitions of kinds of that name in other packages are theirs.
func (r *resolver) otherGroup(apis []*api, a *api, k *kind) bool {
	var other *crd
	for i, c := range r.crds {
		switch {
		case c.group.text == a.group.text:
			return false
		case c.kind.text == k.Name && other == nil && !isKind(apis, c.group.text, k.Name):
			other = &r.crds[i]
		}
	}
	if other == nil || builtIn(a.group.text) {
		return false
	}
	r.failAt(a.group.pos, fmt.Sprintf("kind %s is in group %s by its CustomResourceDefinition (%s) and in group %s by %s",
		k.Name, other.group.text, r.short(other.group.pos), a.group.text, a.group.from))
	return true
}

// isKind reports whether a package has a kind of that group and name.
func isKind(apis []*api, group, name string) bool {
	return slices.ContainsFunc(apis, func(a *api) bool {
		return a.group.text == group && slices.ContainsFunc(a.kinds, func(k *kind) bool { return k.Name == name })
	})
}

func (r *resolver) checkCRD(a *api, k *kind, c crd) {
	resource, scope := k.resource, k.scope
	if resource.text != c.plural.text {
		pos, advice := resource.pos, ""
		if !pos.IsValid() {
			pos, advice = k.pos, ": "+a.advice("+kubebuilder:resource:path="+c.plural.text+" or +resourceName="+c.plural.text, "resource: "+c.plural.text)
		}
		r.failAt(pos, fmt.Sprintf("the resource of kind %s is %s in its CustomResourceDefinition (%s), but %s by %s%s",
			k.Name, c.plural.text, r.short(c.plural.pos), resource.text, resource.from, advice))
	}
	if scope.text != c.scope.text {
		pos, by, advice := scope.pos, "by "+scope.from, ""
		if !pos.IsValid() {
			write := "+kubebuilder:resource:scope=" + c.scope.text
			if marker.First[marker.Genclient](k.declared.markers) != nil {
				write = "+genclient:nonNamespaced"
			}
			pos, by, advice = k.pos, "because no marker says otherwise", ": "+a.advice(write, "scope: "+c.scope.text)
		}
		r.failAt(pos, fmt.Sprintf("the scope of kind %s is %s in its CustomResourceDefinition (%s), but %s %s%s",
			k.Name, c.scope.text, r.short(c.scope.pos), scope.text, by, advice))
	}
}

// checkServed reports a version of a kind that none of its definitions serves.
func (r *resolver) checkServed(a *api, k *kind, same []crd) {
	if slices.ContainsFunc(same, func(c crd) bool { return len(c.versions) == 0 }) || marker.First[kubebuilder.SkipVersion](k.declared.markers) != nil {
		return // by +kubebuilder:skipversion, the definition leaves the version out
	}
	var served []string
	for _, c := range same {
		for _, v := range c.versions {
			if v.served && !slices.Contains(served, v.name.text) {
				served = append(served, v.name.text)
			}
		}
	}
	if !slices.Contains(served, a.version.text) {
		list := strings.Join(served, ", ")
		if list == "" {
			list = "none"
		}
		r.failAt(k.pos, fmt.Sprintf("the CustomResourceDefinition of kind %s (%s) serves %s, not version %s: nothing can be watched; write +kubebuilder:unservedversion above it, or serve it",
			k.Name, r.short(same[0].pos), list, a.version.text))
	}
}

// withoutType warns about definitions in a package's group for which nothing is generated in any
// version, though nothing says that this is wanted. A run for some of the packages can't know.
func (r *resolver) withoutType(apis []*api) {
	if r.partial {
		return
	}
	groups := map[string]bool{}
	for _, a := range apis {
		if a.group.pos.Filename != "" {
			groups[a.group.text] = true
		}
	}
	for _, c := range r.crds {
		var types []verdict // that may be the definition's
		for _, v := range r.verdicts {
			if group := v.api.group; v.name == c.kind.text && (group.pos.Filename == "" || group.text == c.group.text) {
				types = append(types, v)
			}
		}
		wanted := slices.ContainsFunc(types, func(v verdict) bool { return v.kind != nil || v.advice == "" })
		if !groups[c.group.text] || wanted {
			continue
		}
		message := "nothing is generated for kind " + c.kind.text + " of this CustomResourceDefinition: no package has a type for it"
		if len(types) > 0 {
			v := types[0]
			message = fmt.Sprintf("nothing is generated for kind %s of this CustomResourceDefinition: type %s (%s) isn't selected; %s", c.kind.text, v.name, r.short(v.pos), v.advice)
		}
		r.report.Add(diag.Diagnostic{Pos: c.kind.pos, Message: message, Warning: true})
	}
}
