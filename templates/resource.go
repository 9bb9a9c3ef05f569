// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// resourceFile is informers/resource.go: ForResource, for callers that learn a resource's name when they run.
func resourceFile(out *model.Output) *file {
	f := newFile("informers/resource.go", "", "informers", "factory", "f", "resource")
	f.fix("fmt", "fmt")
	f.fix(informerPath, "informer")
	f.fix(schemaPath, "schema")

	var cases []jen.Code
	for _, g := range out.Groups {
		for _, v := range g.Versions {
			listers := path.Join(out.ImportPath, ListerDir(g, v))
			// Versions of one name are in many groups: the alias says which.
			f.alias(listers, folder(v.Package), folder(g.Package)+folder(v.Package))
			for _, t := range v.Types {
				kind := jen.Id("f").Dot(g.GoName).Call().Dot(v.GoName).Call().Dot(t.Plural).Call()
				cases = append(cases,
					jen.Case(f.qual(listers, folder(v.Package), t.Name+"Resource")).
						Block(jen.Return(f.qual(informerPath, "informer", "Generic").
							Call(kind.Dot("Informer").Call(), jen.Id("resource").Dot("GroupResource").Call()), jen.Nil())))
			}
		}
	}
	unknown := f.qual("fmt", "fmt", "Errorf").Call(
		jen.Lit("no informer was generated for %s"), jen.Id("resource").Dot("String").Call())
	body := []jen.Code{jen.Return(jen.Nil(), unknown)}
	if len(cases) > 0 {
		body = append([]jen.Code{jen.Switch(jen.Id("resource")).Block(cases...)}, body...)
	}
	f.add(jen.Func().Params(jen.Id("f").Id("factory")).Id("ForResource").
		Params(jen.Id("resource").Add(f.qual(schemaPath, "schema", "GroupVersionResource"))).
		Params(f.qual(informerPath, "informer", "GenericInformer"), jen.Error()).
		Block(body...))
	return f
}
