// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// groupFile is informers/<group>/group.go: the group with one accessor for each version.
func groupFile(p *packages, g *model.Group) *file {
	f := newFile(p.groups[g], "group.go", "", "factory", "g")
	f.fix(informerPath, "informer")
	f.comment = fmt.Sprintf("// Package %s has the informers of %s, by version.", f.pkg.name, groupTitle(g))
	f.guard()

	var methods, accessors []jen.Code
	for _, v := range g.Versions {
		of := p.informers[v]
		result := func() *jen.Statement { return f.from(of, of.name, "Interface") }
		methods = append(methods,
			commentf("%s has the informers of %s.", v.GoName, groupVersion(g, v)).Id(v.GoName).Params().Add(result()))
		accessors = append(accessors,
			method("g", "group", v.GoName, nil, result(), f.from(of, of.name, "New").Call(jen.Id("g").Dot("factory"))))
	}
	f.addInterface(fmt.Sprintf("Interface gives access to the versions of %s.", groupTitle(g)), methods,
		fmt.Sprintf("New returns the versions of %s, with the informers that factory shares.", groupTitle(g)), "group")
	f.add(accessors...)
	return f
}

// addInterface appends what the packages of a group and of a version have in common: Interface, New, and the struct
// that implements the one for the other.
func (f *file) addInterface(interfaceDoc string, methods []jen.Code, newDoc, impl string) {
	factory := func() *jen.Statement { return jen.Op("*").Add(f.qual(informerPath, "informer", "Factory")) }
	f.add(
		comment(interfaceDoc).Type().Id("Interface").Interface(methods...),
		comment(newDoc).Func().Id("New").Params(jen.Id("factory").Add(factory())).Id("Interface").
			Block(jen.Return(made(impl, jen.Id("factory")))),
		jen.Type().Id(impl).Add(structOf(jen.Id("factory").Add(factory()))),
	)
}
