// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// informerFile is widget.go beside the informers: the informer of one type, made with its indexes.
func informerFile(k *kind) *file {
	f := k.file(k.informers, "i", "options", "v")
	f.fix(informerPath, "informer")
	f.fix(factoriesPath, "factories")
	f.addInformer(k, "v", "version", jen.Id("v").Dot("factory"))
	return f
}

// addInformer appends the informer of a type, and the method, of the type on, that makes one from a
// factory.
func (f *file) addInformer(k *kind, receiver, on string, factory jen.Code) {
	impl := k.private() + "Informer"
	options := func() *jen.Statement { return jen.Id("options").Add(f.of(factoriesPath, "KindOptions", k)) }
	if k.listers != k.informers {
		f.alias(k.listers.path, k.listers.name, "listers")
	}
	arguments := []jen.Code{factory, f.lister(k, k.Name+"Resource")}
	if !k.Namespaced {
		arguments = append(arguments, f.qual(factoriesPath, "factories", "WithClusterScope").Call())
	}
	if len(k.Indexes) > 0 {
		arguments = append(arguments, f.qual(informerPath, "informer", "WithIndexes").
			Call(f.lister(k, k.Name+"Indexes").Op("...")))
	}
	f.add(
		k.documented(fmt.Sprintf("%sInformer has the shared informer of %s and a lister that reads its store.", k.Name, k.Plural)).
			Type().Id(k.Name+"Informer").Interface(
			comment("Informer returns the factory's informer, the same one on every call. It runs once the factory is started.").
				Id("Informer").Params().Op("*").Add(f.of(informerPath, "SharedIndexInformer", k)),
			comment("Lister reads the informer's store, which is empty until the informer has synced.").
				Id("Lister").Params().Add(f.lister(k, k.Name+"Lister")),
			comment("With returns the informer with these options: another informer, if they select other objects.").
				Id("With").Params(options()).Id(k.Name+"Informer"),
		),
		commentf("With%s gives the informers of %s options of their own, whatever those of the factory are.", k.Plural, k.Plural).
			Func().Id("With"+k.Plural).Params(options()).Add(f.qual(informerPath, "informer", "Option")).
			Block(jen.Return(f.qual(factoriesPath, "factories", "WithKind").
				Call(f.lister(k, k.Name+"Resource"), jen.Id("options")))),
		jen.Type().Id(impl).Add(structOf(jen.Op("*").Add(f.of(factoriesPath, "Kind", k)))),
	)
	f.add(
		method(receiver, on, k.Plural, nil, jen.Id(k.Name+"Informer"), made(impl, f.of(factoriesPath, "NewKind", k).Add(jen.Params(arguments...)))),
		method("i", impl, "Lister", nil, f.lister(k, k.Name+"Lister"),
			f.lister(k, "New"+k.Name+"Lister").Call(jen.Id("i").Dot("Informer").Call().Dot("Store").Call())),
		method("i", impl, "With", []jen.Code{options()}, jen.Id(k.Name+"Informer"),
			made(impl, jen.Id("i").Dot("Kind").Dot("With").Call(jen.Id("options")))),
	)
}
