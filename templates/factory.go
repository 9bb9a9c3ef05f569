// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// factoryFile is informers/factory.go: the factory with one accessor for each group.
func factoryFile(out *model.Output) *file {
	f := newFile("informers/factory.go", "", "informers", "client", "factory", "f", "opts")
	f.fix(informerPath, "informer")
	f.fix(sourcePath, "source")
	f.fix(schemaPath, "schema")
	f.comment = "// Package informers has a factory for the shared informers of all types that this project generates them for."
	f.guard()

	methods := []jen.Code{
		f.qual(informerPath, "informer", "SharedInformerFactory"),
		comment("ForResource returns the informer of a resource that is known only when the program runs, or an error for a",
			"resource that this factory has no informer for.").
			Id("ForResource").Params(jen.Id("resource").Add(f.qual(schemaPath, "schema", "GroupVersionResource"))).
			Params(f.qual(informerPath, "informer", "GenericInformer"), jen.Error()),
	}
	var accessors []jen.Code
	for _, g := range out.Groups {
		pkg := folder(g.Package)
		at := path.Join(out.ImportPath, "informers", pkg)
		methods = append(methods,
			commentf("%s has the informers of %s.", g.GoName, groupTitle(g)).
				Id(g.GoName).Params().Add(f.qual(at, pkg, "Interface")))
		accessors = append(accessors,
			method("f", "factory", g.GoName, nil, f.qual(at, pkg, "Interface"),
				f.qual(at, pkg, "New").Call(jen.Id("f").Dot("Base").Call())))
	}
	f.add(
		comment("SharedInformerFactory makes informers and starts, awaits and stops them together. There is one for each type,",
			"however often it is asked for; Start starts only those that were asked for.").
			Type().Id("SharedInformerFactory").Interface(methods...),
		comment("NewSharedInformerFactory returns a factory whose informers read through client. It starts nothing; Start returns",
			"the error if an option is wrong.").
			Func().Id("NewSharedInformerFactory").
			Params(
				jen.Id("client").Op("*").Add(f.qual(sourcePath, "source", "Client")),
				jen.Id("opts").Op("...").Add(f.qual(informerPath, "informer", "Option")),
			).
			Id("SharedInformerFactory").
			Block(jen.Return(jen.Id("factory").Values(
				f.qual(informerPath, "informer", "NewFactory").Call(jen.Id("client"), jen.Id("opts").Op("..."))))),
		jen.Type().Id("factory").Struct(f.qual(informerPath, "informer", "SharedInformerFactory")),
	)
	f.add(accessors...)
	return f
}

// groupTitle is how a sentence names a group.
func groupTitle(g *model.Group) string {
	if g.Name == "" {
		return "the core group"
	}
	return g.Name
}
