// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// listerDocFile is listers/<group>/<version>/doc.go: the package comment, which belongs to no one type.
func listerDocFile(g *model.Group, v *model.Version) *file {
	pkg := folder(v.Package)
	f := newFile(path.Join(ListerDir(g, v), "doc.go"), v.Source.Path, pkg)
	f.comment = fmt.Sprintf("// Package %s has the listers and indexes of %s.", pkg, groupVersion(g, v))
	return f
}

// listerFile is listers/<group>/<version>/widget.go: the lister of one type and where it is served.
func listerFile(g *model.Group, v *model.Version, t *model.Type) *file {
	impl := private(t.Name) + "Lister"
	f := newFile(path.Join(ListerDir(g, v), base(t)+".go"), v.Source.Path, folder(v.Package),
		impl, private(t.Name)+"NamespaceLister", "key", "l", "namespace", "reader")
	f.fix("iter", "iter")
	f.fix(listerPath, "lister")
	f.fix(storePath, "store")
	f.fix(schemaPath, "schema")

	f.add(
		commentf("%sResource is the API resource of %s.", t.Name, t.Plural).
			Var().Id(t.Name+"Resource").Op("=").Add(f.qual(schemaPath, "schema", "GroupVersionResource"), inline(
			jen.Id("Group").Op(":").Lit(g.Name),
			jen.Id("Version").Op(":").Lit(v.Name),
			jen.Id("Resource").Op(":").Lit(t.Resource),
		)),
	)
	if t.Namespaced {
		f.addNamespaced(v, t, impl)
	} else {
		f.addCluster(v, t, impl)
	}
	for _, x := range t.Indexes {
		f.addLookups(v, t, x, impl)
	}
	if t.Namespaced && t.NamespaceListerExpansion {
		f.add(jen.Type().Id(private(t.Name) + "NamespaceLister").Struct(f.of(listerPath, "Scope", v, t)))
	}
	if !t.ListerExpansion {
		f.addExpansion(t, t.Name+"Lister")
	}
	if t.Namespaced && !t.NamespaceListerExpansion {
		f.addExpansion(t, t.Name+"NamespaceLister")
	}
	return f
}

func (f *file) addNamespaced(v *model.Version, t *model.Type, impl string) {
	namespace := []jen.Code{jen.Id("namespace").String()}
	one := jen.Id("l").Dot("Resource").Dot("Namespace").Call(jen.Id("namespace"))
	if t.NamespaceListerExpansion {
		one = jen.Id(private(t.Name) + "NamespaceLister").Values(one)
	}
	f.add(
		documented(t, fmt.Sprintf("%sLister reads %s. The objects are shared by all readers and must not be changed.", t.Name, t.Plural)).
			Type().Id(t.Name+"Lister").Interface(append([]jen.Code{
			f.of(listerPath, "Lister", v, t),
			jen.Id(t.Name + "ListerExpansion"),
			commentf("%s reads one namespace.", t.Plural).
				Id(t.Plural).Params(namespace...).Id(t.Name + "NamespaceLister"),
		}, f.lookups(v, t)...)...),
		commentf("%sNamespaceLister reads the %s of one namespace.", t.Name, t.Plural).
			Type().Id(t.Name+"NamespaceLister").Interface(
			f.of(listerPath, "NamespaceLister", v, t),
			jen.Id(t.Name+"NamespaceListerExpansion"),
		),
		f.constructor(v, t, impl, f.newSet(t)),
		jen.Type().Id(impl).Struct(f.of(listerPath, "Resource", v, t)),
		method("l", impl, t.Plural, namespace, jen.Id(t.Name+"NamespaceLister"), one),
	)
}

func (f *file) addCluster(v *model.Version, t *model.Type, impl string) {
	f.add(
		documented(t, fmt.Sprintf("%sLister reads %s. The objects are shared by all readers and must not be changed.", t.Name, t.Plural)).
			Type().Id(t.Name+"Lister").Interface(append([]jen.Code{
			f.of(listerPath, "ClusterLister", v, t),
			jen.Id(t.Name + "ListerExpansion"),
		}, f.lookups(v, t)...)...),
		f.constructor(v, t, impl, f.newSet(t)),
		jen.Type().Id(impl).Struct(f.of(listerPath, "Resource", v, t)),
	)
}

func (f *file) newSet(t *model.Type) *jen.Statement {
	return f.qual(listerPath, "lister", "New").
		Call(jen.Id("reader"), jen.Id(t.Name+"Resource").Dot("GroupResource").Call())
}

func (f *file) constructor(v *model.Version, t *model.Type, impl string, value jen.Code) *jen.Statement {
	return commentf("New%sLister returns a lister over reader: an informer's store, or one made for a test.", t.Name).
		Func().Id("New" + t.Name + "Lister").
		Params(jen.Id("reader").Add(f.of(storePath, "Reader", v, t))).
		Id(t.Name + "Lister").
		Block(jen.Return(jen.Id(impl).Values(value)))
}

func (f *file) addExpansion(t *model.Type, name string) {
	f.add(commentf("%sExpansion adds methods to %s: declare it in %s instead.", name, name, expansionFile(t)).
		Type().Id(name + "Expansion").Interface())
}

// lookups are the methods of a lister that answer from the indexes, as its interface has them.
func (f *file) lookups(v *model.Version, t *model.Type) []jen.Code {
	var methods []jen.Code
	for _, x := range t.Indexes {
		key := func() *jen.Statement { return jen.Id("key").Add(f.key(v, x.Key)) }
		methods = append(methods,
			commentf("%s iterates over the %s %s, in no order. List%s returns them.", x.Name, t.Plural, condition(x), x.Name).
				Id(x.Name).Params(key()).Add(f.seq(v, t)),
			jen.Id("List"+x.Name).Params(key()).Index().Add(f.object(v, t)),
		)
	}
	return methods
}

// condition says in words which objects an index finds.
func condition(x *model.Index) string {
	if x.Func != nil {
		return fmt.Sprintf("for which %s.%s returns key", x.Func.Package.Name, x.Func.Name)
	}
	return "with key at " + x.Paths[0].Text
}

func (f *file) addLookups(v *model.Version, t *model.Type, x *model.Index, impl string) {
	key := []jen.Code{jen.Id("key").Add(f.key(v, x.Key))}
	lookup := func(name string) jen.Code {
		return jen.Id(t.Name+x.Name).Dot(name).Call(jen.Id("l").Dot("Snapshot").Call(), jen.Id("key"))
	}
	f.add(
		method("l", impl, x.Name, key, f.seq(v, t), lookup("Lookup")),
		method("l", impl, "List"+x.Name, key, jen.Index().Add(f.object(v, t)), lookup("List")),
	)
}

func (f *file) seq(v *model.Version, t *model.Type) *jen.Statement {
	return f.of("iter", "Seq", v, t)
}
