// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// groupFile is informers/<group>/group.go: the group with one accessor for each version.
func groupFile(out *model.Output, g *model.Group) *file {
	pkg := folder(g.Package)
	f := newFile(path.Join("informers", pkg, "group.go"), "", pkg, "factory", "group", "g")
	f.fix(informerPath, "informer")
	f.comment = fmt.Sprintf("// Package %s has the informers of %s, by version.", pkg, groupTitle(g))
	f.guard()

	var methods, accessors []jen.Code
	for _, v := range g.Versions {
		name := folder(v.Package)
		at := path.Join(out.ImportPath, informerDir(g, v))
		methods = append(methods,
			commentf("%s has the informers of %s.", v.GoName, groupVersion(g, v)).
				Id(v.GoName).Params().Add(f.qual(at, name, "Interface")))
		accessors = append(accessors,
			method("g", "group", v.GoName, nil, f.qual(at, name, "Interface"),
				f.qual(at, name, "New").Call(jen.Id("g").Dot("factory"))))
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
			Block(jen.Return(jen.Id(impl).Values(jen.Id("factory")))),
		jen.Type().Id(impl).Add(structOf(jen.Id("factory").Add(factory()))),
	)
}
