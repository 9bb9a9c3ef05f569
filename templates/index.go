// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func indexNames(k *kind) *jen.Statement {
	if len(k.Indexes) == 1 {
		x := k.Indexes[0]
		return commentf("%s is the name of %s.", indexName(k, x), k.Name+x.Name).Const().Id(indexName(k, x)).Op("=").Lit(x.Name)
	}
	var names []jen.Code
	for _, x := range k.Indexes {
		names = append(names, jen.Id(indexName(k, x)).Op("=").Lit(x.Name))
	}
	return commentf("The names of the indexes of %s, as errors and logs have them.", k.Plural).Const().Defs(names...)
}

func indexName(k *kind, x *model.Index) string { return k.Name + x.Name + "Index" }

// addIndexes appends the functions that return all indexes and each of them, and the variables with
// the indexes. These are unexported, so that no other package can set them.
func (f *file) addIndexes(k *kind) {
	var all, variables []jen.Code
	for _, x := range k.Indexes {
		all = append(all, jen.Id(indexVar(k, x)))
		variables = append(variables, f.index(k, x))
	}
	list := jen.Index().Add(f.instantiated(storePath, "AnyIndex", k))
	f.add(commentf("%sIndexes returns the indexes of every informer of %s.", k.Name, k.Plural).
		Func().Id(k.Name + "Indexes").Params().Add(list).Block(jen.Return(list.Clone().Add(inline(all...)))))
	for _, x := range k.Indexes {
		f.add(commentf("%s returns the index of %s %s.", k.Name+x.Name, k.Plural, indexedBy(x)).
			Func().Id(k.Name + x.Name).Params().Op("*").Add(f.qual(storePath, "store", "Index").Types(f.object(k), f.storedKey(k, x))).
			Block(jen.Return(jen.Id(indexVar(k, x)))))
	}
	if len(variables) == 1 {
		f.add(jen.Var().Add(variables...))
	} else {
		f.add(jen.Var().Defs(variables...))
	}
}

func indexVar(k *kind, x *model.Index) string { return k.Unexported() + x.Name }

func (f *file) index(k *kind, x *model.Index) *jen.Statement {
	keys := func() *jen.Statement { return jen.Index().Add(f.storedKey(k, x)) }
	return jen.Id(indexVar(k, x)).Op("=").Add(f.qual(storePath, "store", "NewIndex")).Call(
		jen.Id(indexName(k, x)),
		jen.Func().Params(jen.Id("obj").Add(f.object(k)), jen.Id("keys").Add(keys())).Add(keys()).Block(f.keys(k, x)...))
}

func (f *file) storedKey(k *kind, x *model.Index) *jen.Statement {
	if x.Namespaced {
		return f.qual(storePath, "store", "NamespacedKey").Types(f.key(k, x))
	}
	return f.key(k, x)
}

func (f *file) addKeys(k *kind) {
	for _, x := range k.Indexes {
		if len(x.Paths) < 2 {
			continue
		}
		var fields []jen.Code
		for _, path := range x.Paths {
			fields = append(fields, jen.Id(path.Name).Add(f.goType(k, path.Key)).Comment("// "+path.Text))
		}
		f.add(commentf("%sKey is a key of %s.", k.Name+x.Name, k.Name+x.Name).
			Type().Id(k.Name + x.Name + "Key").Struct(fields...))
	}
}

// keys returns the statements that append the keys of obj to keys and return them.
func (f *file) keys(k *kind, x *model.Index) []jen.Code {
	var statements []jen.Code
	w := newWalk(f)
	for _, c := range x.When {
		if s := w.condition(c, x.Paths); s != nil {
			statements = append(statements, s)
		}
	}
	longer := f.appendKeys(k, x, w)
	if len(w.levels) == 0 {
		return append(statements, jen.Return(longer))
	}
	return append(statements, w.nested(jen.Id("keys").Op("=").Add(longer)), jen.Return(jen.Id("keys")))
}

// appendKeys returns keys extended by the end of walk w.
func (f *file) appendKeys(k *kind, x *model.Index, w *walk) *jen.Statement {
	switch {
	case x.Owner != nil && !x.Namespaced:
		return f.owners(x, jen.Id("keys"))
	case x.Owner != nil:
		return f.loopOver(k, x, w, f.owners(x, jen.Nil()))
	case x.Func != nil && !x.Namespaced:
		return jen.Append(jen.Id("keys"), f.call(x).Op("..."))
	case x.Func != nil:
		return f.loopOver(k, x, w, f.call(x))
	case len(x.Paths) == 1 && !x.Namespaced && isList(x.Paths[0]):
		list := *x.Paths[0]
		list.Steps = append([]model.Step{}, list.Steps...)
		list.Steps[len(list.Steps)-1].Each = false
		return jen.Append(jen.Id("keys"), jen.Id(w.follow(&list).read()+"..."))
	}
	return jen.Append(jen.Id("keys"), f.storedKeyOf(k, x, f.foundKey(k, x, w)))
}

// foundKey returns the key at the end of an index's paths.
func (f *file) foundKey(k *kind, x *model.Index, w *walk) *jen.Statement {
	if len(x.Paths) == 1 {
		return jen.Id(w.follow(x.Paths[0]).read())
	}
	var fields []jen.Code
	for _, path := range x.Paths {
		fields = append(fields, jen.Id(path.Name).Op(":").Id(w.follow(path).read()))
	}
	return jen.Id(k.Name + x.Name + "Key").Add(inline(fields...))
}

// storedKeyOf returns a key as stored in the index.
func (f *file) storedKeyOf(k *kind, x *model.Index, key *jen.Statement) *jen.Statement {
	if x.Namespaced {
		return f.namespacedKey(k, x, jen.Id("obj").Dot("GetNamespace").Call(), key)
	}
	return key
}

// loopOver adds a loop over keys to w.
func (f *file) loopOver(k *kind, x *model.Index, w *walk, keys *jen.Statement) *jen.Statement {
	w.levels = append(w.levels, &level{keys: keys, key: "_", value: "key"})
	return jen.Append(jen.Id("keys"), f.storedKeyOf(k, x, jen.Id("key")))
}

// isList reports whether a path ends with all elements of a slice, each of them a key unchanged.
func isList(path *model.FieldPath) bool {
	last := path.Steps[len(path.Steps)-1]
	return last.Each && !last.ElemPointer && !last.Array && !last.Map
}

// owners returns the call that appends an object's owners to keys.
func (f *file) owners(x *model.Index, keys *jen.Statement) *jen.Statement {
	if x.Owner.Controller {
		return f.qual(objectPath, "object", "ControllerUID").Call(jen.Id("obj"), keys)
	}
	kind := []jen.Code{jen.Id("Kind").Op(":").Lit(x.Owner.Kind)}
	if x.Owner.Group != "" {
		kind = append([]jen.Code{jen.Id("Group").Op(":").Lit(x.Owner.Group)}, kind...)
	}
	return f.qual(objectPath, "object", "OwnerNames").
		Call(jen.Id("obj"), keys, f.qual(schemaPath, "schema", "GroupKind").Add(inline(kind...)))
}

func (f *file) call(x *model.Index) *jen.Statement {
	return f.qual(x.Func.Package.Path, x.Func.Package.Name, x.Func.Name).Call(jen.Id("obj"))
}

func (f *file) namespacedKey(k *kind, x *model.Index, namespace, key *jen.Statement) *jen.Statement {
	return f.qual(storePath, "store", "NamespacedKey").Types(f.key(k, x)).Add(inline(
		jen.Id("Namespace").Op(":").Add(namespace), jen.Id("Key").Op(":").Add(key)))
}

// key returns the type of an index's keys in lookups.
func (f *file) key(k *kind, x *model.Index) *jen.Statement {
	if len(x.Paths) > 1 {
		return jen.Id(k.Name + x.Name + "Key")
	}
	return f.goType(k, x.Key)
}

func indexedBy(x *model.Index) string {
	var by string
	switch {
	case x.Func != nil:
		by = fmt.Sprintf("by what %s.%s returns", x.Func.Package.Name, x.Func.Name)
	case x.Owner != nil && x.Owner.Controller:
		by = "by the UID of their controller"
	case x.Owner != nil:
		by = fmt.Sprintf("by the name of their owner, a %s", strings.TrimSuffix(x.Owner.Kind+"."+x.Owner.Group, "."))
	default:
		by = "by "
		for n, path := range x.Paths {
			by += pick(n > 0, " and ", "") + path.Text
		}
	}
	return by + limits(x)
}

func limits(x *model.Index) string {
	var b strings.Builder
	for n, c := range x.When {
		literal := pick(c.Literal == "nil", "null", c.Literal)
		b.WriteString(pick(n > 0, " and ", ", if ") + c.Path.Text + pick(c.Not, " != ", " == ") + literal)
	}
	if x.Namespaced {
		b.WriteString(", within a namespace")
	}
	return b.String()
}
