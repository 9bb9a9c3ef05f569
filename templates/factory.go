// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func factoryFile(p *packages) *file {
	f := newFile(p.root, "factory.go", "", "client", "opts")
	f.reserve(informerPath, "informer")
	f.reserve(factoriesPath, "factories")
	f.reserve(sourcePath, "source")
	f.reserve(schemaPath, "schema")
	f.comment = "// Package informers has a factory for the shared informers of all types that this project generates them for."
	if p.out.Layout == model.Single {
		f.comment = fmt.Sprintf("// Package %s has shared informers, listers and indexes of types of this project, and a factory for them.", p.root.name)
	}
	f.versionGuard()
	f.add(
		comment("SharedInformerFactory makes informers and starts, awaits and stops them together. There is one for each type,",
			"however often it is asked for; Start starts only those that were asked for.").
			Type().Id("SharedInformerFactory").Interface(append([]jen.Code{
			f.qual(factoriesPath, "factories", "SharedInformerFactory"),
			comment("ForResource returns the informer of a resource that is known only when the program runs, or an error for a",
				"resource that this factory has no informer for.").
				Id("ForResource").Params(jen.Id("resource").Add(f.qual(schemaPath, "schema", "GroupVersionResource"))).
				Params(f.qual(factoriesPath, "factories", "GenericInformer"), jen.Error()),
		}, f.accessors(p)...)...),
		comment("NewSharedInformerFactory returns a factory whose informers read through client. It starts nothing; Start returns",
			"the error if an option is wrong.").
			Func().Id("NewSharedInformerFactory").
			Params(
				jen.Id("client").Op("*").Add(f.qual(sourcePath, "source", "Client")),
				jen.Id("opts").Op("...").Add(f.qual(informerPath, "informer", "Option")),
			).
			Id("SharedInformerFactory").
			Block(jen.Return(newOf("factory",
				f.qual(factoriesPath, "factories", "New").Call(jen.Id("client"), jen.Id("opts").Op("..."))))),
		jen.Type().Id("factory").Struct(f.qual(factoriesPath, "factories", "SharedInformerFactory")),
	)
	return f
}

func (f *file) accessors(p *packages) []jen.Code {
	var methods []jen.Code
	for _, g := range p.out.Groups {
		if p.out.Layout != model.Single {
			methods = append(methods, commentf("%s has the informers of %s.", g.GoName, groupTitle(g)).
				Id(g.GoName).Params().Id(groupInterface(g)))
			continue
		}
		for _, v := range g.Versions {
			for _, k := range p.kinds[v] {
				methods = append(methods, k.accessor())
			}
		}
	}
	return methods
}
