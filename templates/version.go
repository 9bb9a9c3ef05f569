// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// versionFile is informers/<group>/<version>/version.go: the version with one accessor for each type.
func versionFile(g *model.Group, v *model.Version) *file {
	pkg := folder(v.Package)
	f := newFile(path.Join(informerDir(g, v), "version.go"), v.Source.Path, pkg, "factory", "version", "v")
	f.fix(informerPath, "informer")
	f.comment = fmt.Sprintf("// Package %s has the informers of %s.", pkg, groupVersion(g, v))
	f.guard()

	var methods, accessors []jen.Code
	for _, t := range v.Types {
		methods = append(methods,
			commentf("%s has the informer and the lister of %s.", t.Plural, t.Plural).
				Id(t.Plural).Params().Id(t.Name+"Informer"))
		accessors = append(accessors,
			method("v", "version", t.Plural, nil, jen.Id(t.Name+"Informer"),
				jen.Id(private(t.Name)+"Informer").Values(jen.Id("v").Dot("factory"))))
	}
	f.addInterface(fmt.Sprintf("Interface gives access to the types of %s.", groupVersion(g, v)), methods,
		fmt.Sprintf("New returns the types of %s, with the informers that factory shares.", groupVersion(g, v)), "version")
	f.add(accessors...)
	return f
}
