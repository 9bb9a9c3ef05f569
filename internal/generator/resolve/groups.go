// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/informer-gen/informer-gen/internal/generator/apply"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

func groupKinds(r *report.Report, in Input, apis []*api, configurations *apply.Reader) []*model.Group {
	var (
		groups    []*model.Group
		versions  [][]*api // one slice per group and version
		byName    = map[string]*model.Group{}
		byVersion = map[[2]string]int{}
		first     = map[string]*api{} // by group
	)
	for _, a := range apis {
		if a.group.Pos.Filename == "" || a.version.Text == "" {
			continue // reported
		}
		group := byName[a.group.Text]
		if group == nil {
			group = &model.Group{Name: a.group.Text, GoName: a.groupGoName.Text, Package: names.Folder(a.groupGoName.Text)}
			byName[group.Name] = group
			first[group.Name] = a
			groups = append(groups, group)
		} else {
			checkSameGoName(r, first[group.Name], a)
		}
		at, ok := byVersion[groupVersionOf(a)]
		if !ok {
			at = len(versions)
			byVersion[groupVersionOf(a)] = at
			versions = append(versions, nil)
		}
		versions[at] = append(versions[at], a)
	}
	for _, same := range versions {
		group := byName[same[0].group.Text]
		group.Versions = append(group.Versions, versionOfGroup(in, group, same))
	}
	slices.SortFunc(groups, func(a, b *model.Group) int { return strings.Compare(a.Name, b.Name) })
	for _, group := range groups {
		slices.SortFunc(group.Versions, func(a, b *model.Version) int {
			return cmp.Or(version.CompareKubeAwareVersionStrings(b.Name, a.Name), strings.Compare(a.Name, b.Name))
		})
	}
	checkGoNames(r, groups, first)
	if in.Layout == model.Single {
		versions = [][]*api{slices.Concat(versions...)} // in one package
	}
	for _, same := range versions {
		readApplyConfigurations(configurations, same)
		reportCollisions(r, in.Layout, same)
	}
	return groups
}

func versionOfGroup(in Input, group *model.Group, same []*api) *model.Version {
	name := same[0].version.Text
	v := &model.Version{Name: name, GoName: names.UpperFirst(name), Package: names.Folder(name)}
	var kinds []*kind
	for _, a := range same {
		source := model.GoPackage{Path: a.pkg.Path, Name: a.pkg.Name, Deprecated: deprecatedPackage(a.pkg.Files)}
		for _, k := range a.kinds {
			k.Source = source
		}
		kinds = append(kinds, a.kinds...)
	}
	slices.SortStableFunc(kinds, func(a, b *kind) int { return strings.Compare(a.Name, b.Name) })
	if in.Declared != nil {
		v.Declared = in.Declared(group, v)
	}
	for _, k := range kinds {
		k.ListerExpansion = v.Declared[k.Name+"ListerExpansion"]
		k.NamespaceListerExpansion = v.Declared[k.Name+"NamespaceListerExpansion"]
		v.Types = append(v.Types, k.Type)
	}
	return v
}

func deprecatedPackage(files []*ast.File) bool {
	return slices.ContainsFunc(files, func(f *ast.File) bool {
		return f.Doc != nil && strings.Contains("\n\n"+f.Doc.Text(), "\n\nDeprecated: ")
	})
}
