// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func (f *file) lookupsInterface(k *kind) *jen.Statement {
	var methods []jen.Code
	for _, x := range k.Indexes {
		if !x.Namespaced {
			methods = append(methods, f.lookups(k, x)...)
		}
	}
	return commentf("%sLookups finds %s by their indexes, in no order.", k.Name, k.Plural).
		Type().Id(k.Name + "Lookups").Interface(methods...)
}

func (f *file) lookupMethods(k *kind) []jen.Code {
	var methods []jen.Code
	for _, x := range k.Indexes {
		key := []jen.Code{jen.Id("key").Add(f.key(k, x))}
		methods = append(methods,
			k.listerMethod(x.Name, key, f.seq(k), f.lookup(k, x, "Lookup")),
			k.listerMethod("List"+x.Name, key, jen.Index().Add(f.object(k)), f.lookup(k, x, "List")))
	}
	return methods
}

func (f *file) lookups(k *kind, x *model.Index) []jen.Code {
	key := func() *jen.Statement { return jen.Id("key").Add(f.key(k, x)) }
	return []jen.Code{
		indented(fmt.Sprintf("%s finds the %s.", x.Name, lookupTitle(k, x))).
			Id(x.Name).Params(key()).Add(f.seq(k)),
		commentf("List%s returns what %s finds, as a slice.", x.Name, x.Name).
			Id("List" + x.Name).Params(key()).Index().Add(f.object(k)),
	}
}

// lookup queries an index for the objects of key in the lister's namespace.
func (f *file) lookup(k *kind, x *model.Index, name string) *jen.Statement {
	index := jen.Id(indexVar(k, x))
	snapshot, namespace := jen.Id("l").Dot("Snapshot").Call(), jen.Id("l").Dot("InNamespace").Call()
	switch {
	case x.Namespaced:
		return index.Dot(name).Call(snapshot, f.namespacedKey(k, x, namespace, jen.Id("key")))
	case k.Namespaced:
		return index.Dot(name+"In").Call(snapshot, namespace, jen.Id("key"))
	default:
		return index.Dot(name).Call(snapshot, jen.Id("key"))
	}
}

func lookupTitle(k *kind, x *model.Index) string {
	var b strings.Builder
	b.WriteString(k.Plural)
	switch {
	case x.Func != nil:
		fmt.Fprintf(&b, " for which %s.%s returns key", x.Func.Package.Name, x.Func.Name)
	case x.Owner != nil && x.Owner.Controller:
		b.WriteString(" whose controller has the UID key")
	case x.Owner != nil:
		fmt.Fprintf(&b, " owned by the %s called key", strings.TrimSuffix(x.Owner.Kind+"."+x.Owner.Group, "."))
	default:
		b.WriteString(" with key at ")
		for n, path := range x.Paths {
			b.WriteString(pick(n > 0, " and ", "") + path.Text)
		}
	}
	return b.String() + limits(x)
}
