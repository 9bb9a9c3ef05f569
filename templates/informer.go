// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// informerFile is informers/<group>/<version>/widget.go: the informer of one type, made with its indexes.
func informerFile(out *model.Output, g *model.Group, v *model.Version, t *model.Type) *file {
	impl := private(t.Name) + "Informer"
	f := newFile(path.Join(informerDir(g, v), base(t)+".go"), v.Source.Path, folder(v.Package),
		impl, "factory", "i", "version")
	f.fix(informerPath, "informer")
	listers := path.Join(out.ImportPath, ListerDir(g, v))
	f.alias(listers, folder(v.Package), "listers")
	listersQual := func(id string) *jen.Statement { return f.qual(listers, folder(v.Package), id) }

	informer := func() *jen.Statement { return jen.Op("*").Add(f.of(informerPath, "SharedIndexInformer", v, t)) }
	args := []jen.Code{jen.Id("i").Dot("factory"), listersQual(t.Name + "Resource")}
	if !t.Namespaced {
		args = append(args, f.qual(informerPath, "informer", "WithClusterScope").Call())
	}
	if len(t.Indexes) > 0 {
		args = append(args, f.qual(informerPath, "informer", "WithIndexes").
			Call(listersQual(t.Name+"Indexes").Op("...")))
	}
	f.add(
		documented(t, fmt.Sprintf("%sInformer has the shared informer of %s and a lister that reads its store.", t.Name, t.Plural)).
			Type().Id(t.Name+"Informer").Interface(
			comment("Informer returns the factory's informer, the same one on every call. It runs once the factory is started.").
				Id("Informer").Params().Add(informer()),
			comment("Lister reads the informer's store, which is empty until the informer has synced.").
				Id("Lister").Params().Add(listersQual(t.Name+"Lister")),
		),
		jen.Type().Id(impl).Add(structOf(jen.Id("factory").Op("*").Add(f.qual(informerPath, "informer", "Factory")))),
		method("i", impl, "Informer", nil, informer(), f.of(informerPath, "For", v, t).Call(args...)),
		method("i", impl, "Lister", nil, listersQual(t.Name+"Lister"),
			listersQual("New"+t.Name+"Lister").Call(jen.Id("i").Dot("Informer").Call().Dot("Store").Call())),
	)
	return f
}
