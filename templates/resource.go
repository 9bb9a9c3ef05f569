// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func resourceFile(p *packages) *file {
	f := newFile(p.root, "resource.go", "", "f", "resource")
	f.reserve("fmt", "fmt")
	f.reserve(factoriesPath, "factories")
	f.reserve(schemaPath, "schema")

	var cases []jen.Code
	for _, g := range p.out.Groups {
		for _, v := range g.Versions {
			for _, k := range p.kinds[v] {
				if k.Projection != nil {
					continue // the resource belongs to the unprojected kind
				}
				resource := f.from(k.listers, versionAlias(g, v), k.Name+"Resource").Call()
				at := jen.Id("f")
				if p.out.Layout != model.Single {
					at = at.Dot(g.GoName).Call().Dot(v.GoName).Call()
					f.usesDeprecated = f.usesDeprecated || k.Deprecated != ""
				}
				cases = append(cases, jen.Case(resource).Block(jen.Return(f.qual(factoriesPath, "factories", "Generic").
					Call(at.Dot(k.Plural).Call().Dot("Informer").Call(), jen.Id("resource").Dot("GroupResource").Call()), jen.Nil())))
			}
		}
	}
	unknown := f.qual("fmt", "fmt", "Errorf").Call(
		jen.Lit("no informer was generated for %s"), jen.Id("resource").Dot("String").Call())
	body := []jen.Code{jen.Return(jen.Nil(), unknown)}
	if len(cases) > 0 {
		body = append([]jen.Code{jen.Switch(jen.Id("resource")).Block(cases...)}, body...)
	}
	f.add(jen.Func().Params(jen.Id("f").Op("*").Id("factory")).Id("ForResource").
		Params(jen.Id("resource").Add(f.qual(schemaPath, "schema", "GroupVersionResource"))).
		Params(f.qual(factoriesPath, "factories", "GenericInformer"), jen.Error()).
		Block(body...))
	return f
}
