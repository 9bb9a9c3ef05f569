// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

func informerFile(k *kind) *file {
	f := k.file(k.informers, "i", "options", "v")
	f.fixInformer(k)
	f.addInformer(k, "v", "version", jen.Id("v").Dot("factory"))
	return f
}

func (f *file) fixInformer(k *kind) {
	f.reserve(informerPath, "informer")
	f.reserve(factoriesPath, "factories")
	if k.controllers {
		f.reserve(controllerPath, "controller")
	}
}

func (f *file) addInformer(k *kind, receiver, on string, factory jen.Code) {
	impl := k.Unexported() + "Informer"
	options := func() *jen.Statement { return jen.Id("options").Add(f.instantiated(factoriesPath, "KindOptions", k)) }
	if k.listers != k.informers {
		f.alias(k.listers.path, k.listers.name, "listers")
	}
	f.add(
		k.documented(fmt.Sprintf("%sInformer has the shared informer of %s and a lister that reads its store.", k.Name, k.Plural)).
			Type().Id(k.Name+"Informer").Interface(append([]jen.Code{
			comment("Informer returns the factory's informer, the same one on every call. It runs once the factory is started.").
				Id("Informer").Params().Op("*").Add(f.instantiated(informerPath, "SharedIndexInformer", k)),
			comment("Lister reads the informer's store, which is empty until the informer has synced.").
				Id("Lister").Params().Add(f.lister(k, k.Name+"Lister")),
			comment("With returns the informer with these options: another informer, if they select other objects.").
				Id("With").Params(options()).Id(k.Name + "Informer"),
		}, f.controllerMethods(k)...)...),
		commentf("With%s gives the informers of %s options of their own, whatever those of the factory are.", k.Plural, k.Plural).
			Func().Id("With"+k.Plural).Params(options()).Add(f.qual(informerPath, "informer", "Option")).
			Block(jen.Return(f.qual(factoriesPath, "factories", "WithKind").
				Call(f.lister(k, k.Name+"Resource").Call(), jen.Id("options")))),
		jen.Type().Id(impl).Add(structOf(jen.Op("*").Add(f.instantiated(kindPath(k), "Kind", k)))),
	)
	f.add(
		method(receiver, on, k.Plural, nil, jen.Id(k.Name+"Informer"), newOf(impl, f.newKind(k, factory))),
		method("i", impl, "Lister", nil, f.lister(k, k.Name+"Lister"),
			f.lister(k, "New"+k.Name+"Lister").Call(jen.Id("i").Dot("Informer").Call().Dot("Store").Call())),
		method("i", impl, "With", []jen.Code{options()}, jen.Id(k.Name+"Informer"),
			newOf(impl, jen.Id("i").Dot("Kind").Dot("With").Call(jen.Id("options")))),
	)
}

// kindPath returns the package of the Kind behind k's informer: with the methods of controllers, or
// with informers alone.
func kindPath(k *kind) string { return pick(k.controllers, controllerPath, factoriesPath) }

func (f *file) newKind(k *kind, factory jen.Code) *jen.Statement {
	arguments := []jen.Code{factory, f.lister(k, k.Name+"Resource").Call()}
	switch {
	case k.controllers:
		arguments = append(arguments, jen.Lit(k.apiKind()), jen.Lit(k.Namespaced))
	case !k.Namespaced:
		arguments = append(arguments, f.qual(factoriesPath, "factories", "WithClusterScope").Call())
	}
	if len(k.Indexes) > 0 {
		arguments = append(arguments, f.qual(informerPath, "informer", "WithIndexes").
			Call(f.lister(k, k.Name+"Indexes").Call().Op("...")))
	}
	return f.instantiated(kindPath(k), "NewKind", k).Add(jen.Params(arguments...))
}

func (k *kind) apiKind() string {
	if k.Projection != nil {
		return k.Projection.Of
	}
	return k.Name
}

// controllerMethods returns the methods for controllers in the informer's interface.
func (f *file) controllerMethods(k *kind) []jen.Code {
	if !k.controllers {
		return nil
	}
	return []jen.Code{comment("Reconcile makes a controller. The other methods name the kind, also for controller.Writer.").
		Add(f.instantiated(controllerPath, "Methods", k))}
}
