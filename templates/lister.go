// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func listerDocFile(p *packages, g *model.Group, v *model.Version) *file {
	f := newFile(p.listers[v], "doc.go", p.source(v))
	f.comment = fmt.Sprintf("// Package %s has the listers and indexes of %s.", f.pkg.name, groupVersion(g, v))
	return f
}

func listerFile(k *kind) *file {
	f := k.file(k.listers, "key", "keys", "l", "namespace", "obj", "ok", "reader")
	f.addLister(k)
	return f
}

func (f *file) addLister(k *kind) {
	f.reserve("iter", "iter")
	f.reserve(listerPath, "lister")
	f.reserve(storePath, "store")
	f.reserve(schemaPath, "schema")
	f.usesDeprecated = f.usesDeprecated || slices.ContainsFunc(k.Indexes, func(x *model.Index) bool { return x.Deprecated })
	impl := k.Unexported() + "Lister"
	resource := func() *jen.Statement { return f.qual(schemaPath, "schema", "GroupVersionResource") }
	f.add(commentf("%sResource returns the API resource of %s.", k.Name, k.Plural).
		Func().Id(k.Name + "Resource").Params().Add(resource()).Block(jen.Return(resource().Add(inline(
		jen.Id("Group").Op(":").Lit(k.Group.Name),
		jen.Id("Version").Op(":").Lit(k.Version.Name),
		jen.Id("Resource").Op(":").Lit(k.Resource),
	)))))
	if len(k.Indexes) > 0 {
		f.add(indexNames(k))
		f.addIndexes(k)
		f.addKeys(k)
	}
	f.add(f.listerInterface(k))
	if k.Namespaced {
		f.add(f.namespaceInterface(k))
	}
	if k.hasLookups() {
		f.add(f.lookupsInterface(k))
	}
	made := f.qual(listerPath, "lister", "New").Call(jen.Id("reader"), jen.Id(k.Name+"Resource").Call().Dot("GroupResource").Call())
	if k.hasLister() {
		made = k.newLister(pick(k.isShared(), made, jen.Op("*").Add(made)))
	}
	f.add(commentf("New%sLister returns a lister over reader: an informer's store, or one made for a test.", k.Name).
		Func().Id("New" + k.Name + "Lister").Params(jen.Id("reader").Add(f.instantiated(storePath, "Reader", k))).Id(k.Name + "Lister").
		Block(jen.Return(made)))
	if k.hasLister() {
		resource := f.instantiated(listerPath, "Resource", k)
		f.add(jen.Type().Id(impl).Add(structOf(pick(k.isShared(), jen.Op("*").Add(resource), resource))))
		f.addMethods(k, impl)
	}
}

// hasLister reports whether k's lister has more methods than lister.Resource.
func (k *kind) hasLister() bool { return k.Namespaced || k.ListerExpansion || len(k.Indexes) > 0 }

// isShared reports whether k's lister doubles as the lister of one namespace, which has methods of
// its own. Then it holds a pointer to a Resource. Otherwise the Resource itself is the lister of a
// namespace, and there are fewer functions to compile.
func (k *kind) isShared() bool {
	return k.Namespaced && (k.NamespaceListerExpansion || len(k.Indexes) > 0)
}

// isValue reports whether k's lister is a struct instead of a pointer to one. The struct itself
// holds just a pointer, so that the lister of a namespace is one allocation. The user's own methods
// have pointer receivers, like client-go's expansions.
func (k *kind) isValue() bool {
	return k.isShared() && !k.ListerExpansion && !k.NamespaceListerExpansion
}

func (k *kind) newLister(of jen.Code) *jen.Statement {
	impl := k.Unexported() + "Lister"
	if k.isValue() {
		return jen.Id(impl).Values(of)
	}
	return newOf(impl, of)
}

func (f *file) listerInterface(k *kind) *jen.Statement {
	members := []jen.Code{f.instantiated(listerPath, pick(k.Namespaced, "Lister", "ClusterLister"), k), jen.Id(k.Name + "ListerExpansion")}
	if k.hasLookups() {
		members = append(members, jen.Id(k.Name+"Lookups"))
	}
	if k.Namespaced {
		members = append(members, jen.Id(k.Plural).Params(jen.Id("namespace").String()).Id(k.Name+"NamespaceLister"))
	}
	return k.documented(fmt.Sprintf("%sLister reads %s. The objects are shared by all readers and must not be changed.", k.Name, k.Plural)).
		Type().Id(k.Name + "Lister").Interface(members...)
}

func (f *file) namespaceInterface(k *kind) *jen.Statement {
	members := []jen.Code{f.instantiated(listerPath, "NamespaceLister", k), jen.Id(k.Name + "NamespaceListerExpansion")}
	if k.hasLookups() {
		members = append(members, jen.Id(k.Name+"Lookups"))
	}
	for _, x := range k.Indexes {
		if x.Namespaced {
			members = append(members, f.lookups(k, x)...)
		}
	}
	return commentf("%sNamespaceLister reads the %s of one namespace.", k.Name, k.Plural).
		Type().Id(k.Name + "NamespaceLister").Interface(members...)
}

// addMethods appends the methods of the lister. One namespace gets a separate lister only if the
// user has methods for it.
func (f *file) addMethods(k *kind, impl string) {
	methods := f.lookupMethods(k)
	if k.Namespaced {
		one := jen.Id("l").Dot("Namespace").Call(jen.Id("namespace"))
		switch {
		case k.NamespaceListerExpansion:
			own := k.Unexported() + "NamespaceLister"
			one = newOf(own, jen.Id(impl).Values(one))
			f.add(jen.Type().Id(own).Add(structOf(jen.Id(impl))))
		case k.isShared():
			one = k.newLister(one)
		}
		namespace := k.listerMethod(k.Plural, []jen.Code{jen.Id("namespace").String()}, jen.Id(k.Name+"NamespaceLister"), one)
		methods = append([]jen.Code{namespace}, methods...)
	}
	f.add(methods...)
}

func (k *kind) listerMethod(name string, params []jen.Code, result, body jen.Code) *jen.Statement {
	if k.isValue() {
		return valueMethod("l", k.Unexported()+"Lister", name, params, result, body)
	}
	return method("l", k.Unexported()+"Lister", name, params, result, body)
}

func (k *kind) hasLookups() bool {
	for _, x := range k.Indexes {
		if !x.Namespaced {
			return true
		}
	}
	return false
}
