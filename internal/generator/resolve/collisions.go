// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

func groupVersionOf(a *api) [2]string { return [2]string{a.group.Text, a.version.Text} }

// reportCollisions reports kinds and indexes of apis whose names clash in the generated packages.
func reportCollisions(r *report.Report, layout model.Layout, apis []*api) {
	type owner struct {
		what string
		pos  token.Position
		api  *api
	}
	taken := map[string]owner{}
	claim := func(o owner, use, name string) bool {
		other, ok := taken[use+name]
		if !ok {
			taken[use+name] = o
			return true
		}
		advice := ""
		switch {
		// they clash only in the layout Single
		case groupVersionOf(other.api) != groupVersionOf(o.api):
			advice = ": use the grouped layout, where each version has its own packages"
		case other.api != o.api:
			advice = ": for the type that no server serves, " + o.api.advice("// +informer:generate=false above it", "generate: false")
		}
		r.FailAt(o.pos, fmt.Sprintf("%s and %s (%s) would both have the %s%s%s", o.what, other.what, r.Short(other.pos), use, name, advice))
		return false
	}
	claimAll := func(o owner, use string, names ...string) {
		for _, name := range names {
			if !claim(o, use, name) {
				break
			}
		}
	}
	resources := map[[2]string]map[string]owner{}
	for _, a := range apis {
		served := resources[groupVersionOf(a)]
		if served == nil {
			served = map[string]owner{}
			resources[groupVersionOf(a)] = served
		}
		slices.SortFunc(a.kinds, func(a, b *kind) int { return strings.Compare(a.Name, b.Name) })
		for _, k := range a.kinds {
			o := owner{"type " + k.Name, k.pos, a}
			if k.projectionOf != nil {
				o.what = "projection " + k.Name
			}
			if len(apis) > 1 {
				o.what += " of package " + a.pkg.Path
			}
			if !claim(o, "file name ", k.File()) {
				continue
			}
			if other, ok := served[k.Resource]; ok && k.projectionOf == nil {
				r.FailAt(k.pos, fmt.Sprintf("%s and %s (%s) would both have the resource %s", o.what, other.what, r.Short(other.pos), k.Resource))
				continue
			}
			if k.projectionOf == nil {
				served[k.Resource] = o
			}
			if layout == model.Single && slices.Contains(factoryMethods, k.Plural) {
				r.FailAt(k.pos, fmt.Sprintf("%s can't have the accessor %s, because every factory has a method of this name: "+
					"use the grouped layout, or another plural", o.what, k.Plural))
				continue
			}
			if !claim(o, "accessor ", k.Plural) {
				continue
			}
			names := []string{"New" + k.Name + "Lister", k.Name + "Lister", k.Name + "ListerExpansion", k.Name + "Resource"}
			if k.Namespaced {
				names = append(names, k.Name+"NamespaceLister", k.Name+"NamespaceListerExpansion")
			}
			if len(k.Indexes) > 0 {
				names = append(names, k.Name+"Indexes", k.Name+"Lookups")
			}
			claimAll(o, "Go name ", names...)
			informers, projections, configurations := "Go name ", "Go name ", "Go name "
			if layout != model.Single { // with packages of their own
				informers, projections, configurations = "informer's Go name ", "Go name of a projected type ", "Go name of an apply configuration "
			}
			claimAll(o, informers, k.Name+"Informer", "With"+k.Plural)
			claimAll(o, projections, projectedNames(k)...)
			claimAll(o, configurations, appliedNames(k)...)
			for i, x := range k.Indexes {
				of := owner{"index " + x.Name + " of " + o.what, k.indexes[i], a}
				names := []string{k.Name + x.Name, k.Name + x.Name + "Index", k.Unexported() + x.Name}
				if len(x.Paths) > 1 {
					names = append(names, k.Name+x.Name+"Key")
				}
				claimAll(of, "Go name ", names...)
			}
		}
	}
}

// appliedNames returns the Go names declared for a kind's apply configuration.
func appliedNames(k *kind) []string {
	if k.Apply == nil {
		return nil
	}
	names := []string{k.Name}
	for _, s := range k.Apply.Structs {
		names = append(names, s.Name)
	}
	return names
}

// projectedNames returns the Go names declared for a projection's type; nil for other kinds.
func projectedNames(k *kind) []string {
	if k.projectionOf == nil {
		return nil
	}
	names := []string{"New" + k.Name}
	for _, s := range k.Projection.Structs {
		names = append(names, s.Name)
	}
	return names
}
