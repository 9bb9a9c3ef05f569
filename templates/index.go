// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"path"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// indexFile is listers/<group>/<version>/widget_index.go: the indexes of one type.
func indexFile(g *model.Group, v *model.Version, t *model.Type) *file {
	f := newFile(path.Join(ListerDir(g, v), base(t)+"_index.go"), v.Source.Path, folder(v.Package),
		"i", "j", "k", "keys", "obj")
	f.fix(storePath, "store")

	var all []jen.Code
	width := len("var Indexes = []store.Indexer[*]{}") + len(t.Name) + len(v.Source.Name) + len(t.Name)
	for _, x := range t.Indexes {
		all = append(all, jen.Id(t.Name+x.Name))
		width += len(t.Name+x.Name) + len(", ")
	}
	list := inline(all...)
	if width > 120 {
		list = jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, all...)
	}
	f.add(commentf("%sIndexes are the indexes of every informer of %s.", t.Name, t.Plural).
		Var().Id(t.Name + "Indexes").Op("=").Index().Add(f.of(storePath, "Indexer", v, t)).Add(list))
	for _, x := range t.Indexes {
		keys := jen.Func().
			Params(jen.Id("obj").Add(f.object(v, t)), jen.Id("keys").Index().Add(f.key(v, x.Key))).
			Index().Add(f.key(v, x.Key)).
			Block(f.keys(x)...)
		f.add(commentf("%s finds the %s %s.", t.Name+x.Name, t.Plural, condition(x)).
			Var().Id(t.Name+x.Name).Op("=").Add(f.qual(storePath, "store", "NewIndex")).
			Call(jen.Lit(x.Name), keys))
	}
	return f
}

// keys are the statements that append the keys of obj to keys and return them.
func (f *file) keys(x *model.Index) []jen.Code {
	if x.Func != nil {
		call := f.qual(x.Func.Package.Path, x.Func.Package.Name, x.Func.Name).Call(jen.Id("obj"))
		return []jen.Code{jen.Return(jen.Append(jen.Id("keys"), call.Op("...")))}
	}
	return walk(x.Paths[0].Steps)
}

// walk gives the statements that append what steps lead to from obj, and return.
func walk(steps []model.Step) []jen.Code {
	body, plain := follow(jen.Id("obj"), nil, steps, 0)
	if plain {
		return []jen.Code{jen.Return(body)}
	}
	return []jen.Code{body, jen.Return(jen.Id("keys"))}
}

// follow appends every key that steps lead to from at, if present (nil for always) holds. When that takes neither a
// loop nor a nil check, it gives the call of append alone and says so.
func follow(at, present *jen.Statement, steps []model.Step, depth int) (body jen.Code, plain bool) {
	for n, step := range steps {
		last := n == len(steps)-1
		at = at.Clone().Dot(step.Field)
		if step.Pointer {
			present = and(present, at)
			if step.Each || last {
				at = jen.Op("*").Add(at)
			}
		}
		if !step.Each {
			continue
		}
		if last && !step.ElemPointer && !step.Array {
			at = at.Clone().Op("...")
			break
		}
		if step.Pointer {
			at = jen.Parens(at)
		}
		return when(present, each(at, step, steps[n+1:], depth)), false
	}
	call := jen.Append(jen.Id("keys"), at)
	if present == nil && depth == 0 {
		return call, true
	}
	return when(present, jen.Id("keys").Op("=").Add(call)), false
}

// each writes the loop over the elements of at. It goes by position, because the elements of API types are large.
func each(at *jen.Statement, step model.Step, rest []model.Step, depth int) *jen.Statement {
	i := jen.Id(positions[min(depth, len(positions)-1)])
	if depth >= len(positions) {
		i = jen.Id(positions[0] + strconv.Itoa(depth))
	}
	elem := at.Clone().Index(i)
	var present *jen.Statement
	if step.ElemPointer {
		present = and(nil, elem)
		if len(rest) == 0 {
			elem = jen.Op("*").Add(elem)
		}
	}
	body, _ := follow(elem, present, rest, depth+1)
	return jen.For(i.Clone().Op(":=").Range().Add(at)).Block(body)
}

// positions are the loop variables from the outermost loop inwards.
var positions = []string{"i", "j", "k"}

// and adds to a condition that pointer is not nil.
func and(present, pointer *jen.Statement) *jen.Statement {
	check := pointer.Clone().Op("!=").Nil()
	if present == nil {
		return check
	}
	return present.Clone().Op("&&").Add(check)
}

// when puts statement under a condition, if there is one.
func when(present *jen.Statement, statement jen.Code) jen.Code {
	if present == nil {
		return statement
	}
	return jen.If(present).Block(statement)
}
