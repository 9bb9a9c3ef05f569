// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/crd"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

func hasCRD(crds []crd.Definition, kind string) bool {
	return slices.ContainsFunc(crds, func(c crd.Definition) bool { return c.Kind.Text == kind })
}

// checkCRDs compares kinds with the definitions of the same group and kind. It ignores definitions
// in groups without a package, and Kubernetes' own groups, which have no definitions.
func checkCRDs(r *report.Report, in Input, apis []*api, types []Type) {
	if len(in.CRDs) == 0 {
		return
	}
	groups := map[string]bool{}
	for _, c := range in.CRDs {
		groups[c.Group.Text] = true
	}
	for _, a := range apis {
		if a.group.Pos.Filename == "" || a.version.Text == "" {
			continue // reported
		}
		for _, k := range a.kinds {
			if k.projectionOf != nil {
				continue
			}
			// There may be one for each feature set, or for each version.
			var same []crd.Definition
			for _, c := range in.CRDs {
				if c.Group.Text == a.group.Text && c.Kind.Text == k.Name {
					same = append(same, c)
					checkCRD(r, a, k, c)
				}
			}
			if len(same) > 0 {
				checkServed(r, a, k, same)
			}
			if len(same) > 0 || reportOtherGroup(r, in.CRDs, apis, a, k) || builtIn(a.group.Text) && !groups[a.group.Text] {
				continue
			}
			r.WarnAt(k.pos, fmt.Sprintf("no CustomResourceDefinition is for kind %s in group %s", k.Name, a.group.Text))
		}
	}
	warnWithoutType(r, in, apis, types)
}

// builtIn reports whether an API server may serve the group without a CustomResourceDefinition.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// reportOtherGroup reports a kind whose definitions are all in other groups, if its own group has
// no definition at all. A definition of another package's kind with the same name doesn't count.
func reportOtherGroup(r *report.Report, crds []crd.Definition, apis []*api, a *api, k *kind) bool {
	var other *crd.Definition
	for i, c := range crds {
		switch {
		case c.Group.Text == a.group.Text:
			return false
		case c.Kind.Text == k.Name && other == nil && !isKind(apis, c.Group.Text, k.Name):
			other = &crds[i]
		}
	}
	if other == nil || builtIn(a.group.Text) {
		return false
	}
	r.FailAt(a.group.Pos, fmt.Sprintf("kind %s is in group %s by its CustomResourceDefinition (%s) but in group %s by %s",
		k.Name, other.Group.Text, r.Short(other.Group.Pos), a.group.Text, a.group.From))
	return true
}

func isKind(apis []*api, group, name string) bool {
	return slices.ContainsFunc(apis, func(a *api) bool {
		return a.group.Text == group && slices.ContainsFunc(a.kinds, func(k *kind) bool { return k.Name == name })
	})
}

func checkCRD(r *report.Report, a *api, k *kind, c crd.Definition) {
	resource, scope := k.resource, k.scope
	if resource.Text != c.Plural.Text {
		pos, advice := resource.Pos, ""
		if !pos.IsValid() {
			pos, advice = k.pos, ": "+a.advice("+kubebuilder:resource:path="+c.Plural.Text+" or +resourceName="+c.Plural.Text, "resource: "+c.Plural.Text)
		}
		r.FailAt(pos, fmt.Sprintf("the resource of kind %s is %s in its CustomResourceDefinition (%s), but %s by %s%s",
			k.Name, c.Plural.Text, r.Short(c.Plural.Pos), resource.Text, resource.From, advice))
	}
	if scope.Text != c.Scope.Text {
		pos, by, advice := scope.Pos, "by "+scope.From, ""
		if !pos.IsValid() {
			write := "+kubebuilder:resource:scope=" + c.Scope.Text
			if marker.First[marker.Genclient](k.decl.markers) != nil {
				write = "+genclient:nonNamespaced"
			}
			pos, by, advice = k.pos, "because no marker says otherwise", ": "+a.advice(write, "scope: "+c.Scope.Text)
		}
		r.FailAt(pos, fmt.Sprintf("the scope of kind %s is %s in its CustomResourceDefinition (%s), but %s %s%s",
			k.Name, c.Scope.Text, r.Short(c.Scope.Pos), scope.Text, by, advice))
	}
}

func checkServed(r *report.Report, a *api, k *kind, same []crd.Definition) {
	if slices.ContainsFunc(same, func(c crd.Definition) bool { return len(c.Versions) == 0 }) || marker.First[kubebuilder.SkipVersion](k.decl.markers) != nil {
		return // with +kubebuilder:skipversion, the definition omits the version
	}
	var served []string
	for _, c := range same {
		for _, v := range c.Versions {
			if v.Served && !slices.Contains(served, v.Name.Text) {
				served = append(served, v.Name.Text)
			}
		}
	}
	if !slices.Contains(served, a.version.Text) {
		list := strings.Join(served, ", ")
		if list == "" {
			list = "none"
		}
		r.FailAt(k.pos, fmt.Sprintf("the CustomResourceDefinition of kind %s (%s) serves %s, not version %s: nothing can be watched; write +kubebuilder:unservedversion above it, or serve it",
			k.Name, r.Short(same[0].Pos), list, a.version.Text))
	}
}

// warnWithoutType warns about definitions in a package's group without generated code for any
// version, unless a setting asks for that. A partial run doesn't see all types, so it checks
// nothing.
func warnWithoutType(r *report.Report, in Input, apis []*api, types []Type) {
	if in.Partial {
		return
	}
	groups := map[string]bool{}
	for _, a := range apis {
		if a.group.Pos.Filename != "" {
			groups[a.group.Text] = true
		}
	}
	for _, c := range in.CRDs {
		var its []Type // candidates for the definition
		for _, t := range types {
			if group := t.api.group; t.Name == c.Kind.Text && (group.Pos.Filename == "" || group.Text == c.Group.Text) {
				its = append(its, t)
			}
		}
		wanted := slices.ContainsFunc(its, func(t Type) bool { return t.kind != nil || t.Advice == "" })
		if !groups[c.Group.Text] || wanted {
			continue
		}
		message := "nothing is generated for kind " + c.Kind.Text + " of this CustomResourceDefinition: no package has a type for it"
		if len(its) > 0 {
			t := its[0]
			message = fmt.Sprintf("nothing is generated for kind %s of this CustomResourceDefinition: type %s (%s) isn't selected; %s", c.Kind.Text, t.Name, r.Short(t.Pos), t.Advice)
		}
		r.WarnAt(c.Kind.Pos, message)
	}
}
