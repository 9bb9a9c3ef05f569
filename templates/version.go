// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func versionFile(p *packages, g *model.Group, v *model.Version) *file {
	f := newFile(p.informers[v], "version.go", p.source(v), "factory")
	f.reserve(factoriesPath, "factories")
	f.comment = fmt.Sprintf("// Package %s has the informers of %s.", f.pkg.name, groupVersion(g, v))
	f.versionGuard()

	var methods []jen.Code
	for _, k := range p.kinds[v] {
		methods = append(methods, k.accessor())
	}
	factory := func() *jen.Statement {
		return jen.Id("factory").Op("*").Add(f.qual(factoriesPath, "factories", "Factory"))
	}
	f.add(
		commentf("Interface gives access to the types of %s.", groupVersion(g, v)).Type().Id("Interface").Interface(methods...),
		commentf("New returns the types of %s, with the informers that factory shares.", groupVersion(g, v)).
			Func().Id("New").Params(factory()).Id("Interface").Block(jen.Return(newOf("version", jen.Id("factory")))),
		jen.Type().Id("version").Add(structOf(factory())),
	)
	return f
}

func (k *kind) accessor() *jen.Statement {
	lines := []string{fmt.Sprintf("%s has the informer and the lister of %s.", k.Plural, k.Plural)}
	return verbatim(append(lines, k.deprecation()...)).
		Id(k.Plural).Params().Id(k.Name + "Informer")
}
