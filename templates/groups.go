// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// groupsFile is informers/groups.go: the groups' interfaces and accessors. They are in the
// factory's package because each package with such accessors makes the compiler compile everything
// behind the informers' types again.
func groupsFile(p *packages) *file {
	f := newFile(p.root, "groups.go", "", "f", "g")
	f.reserve(factoriesPath, "factories")
	for _, g := range p.out.Groups {
		impl := groupImpl(g)
		var methods, accessors []jen.Code
		for _, v := range g.Versions {
			of, alias := p.informers[v], versionAlias(g, v)
			result := func() *jen.Statement { return f.from(of, alias, "Interface") }
			methods = append(methods,
				commentf("%s has the informers of %s.", v.GoName, groupVersion(g, v)).Id(v.GoName).Params().Add(result()))
			accessors = append(accessors,
				method("g", impl, v.GoName, nil, result(), f.from(of, alias, "New").Call(jen.Id("g").Dot("factory"))))
		}
		f.add(
			commentf("%s gives access to the versions of %s.", groupInterface(g), groupTitle(g)).
				Type().Id(groupInterface(g)).Interface(methods...),
			jen.Type().Id(impl).Add(structOf(jen.Id("factory").Op("*").Add(f.qual(factoriesPath, "factories", "Factory")))),
		)
		f.add(append([]jen.Code{
			method("f", "factory", g.GoName, nil, jen.Id(groupInterface(g)), newOf(impl, jen.Id("f").Dot("Base").Call())),
		}, accessors...)...)
	}
	return f
}

func groupInterface(g *model.Group) string { return g.GoName + "Group" }

func groupImpl(g *model.Group) string { return g.Unexported() + "Group" }

// versionAlias returns the factory's import name for a version's package. Many groups have versions
// of one name.
func versionAlias(g *model.Group, v *model.Version) string {
	return g.Package + v.Package
}

// groupVersion returns a version of a group as users write it: "apps/v1", or "v1" in the core
// group.
func groupVersion(g *model.Group, v *model.Version) string {
	if g.Name == "" {
		return v.Name
	}
	return g.Name + "/" + v.Name
}

func groupTitle(g *model.Group) string {
	if g.Name == "" {
		return "the core group"
	}
	return g.Name
}
