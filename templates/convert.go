// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func (f *file) newProjection(k *kind, s *model.Struct) *jen.Statement {
	return commentf("New%s returns %s with the fields of %s, which must not be nil. Both share what the fields refer to.",
		s.Name, indefinite(s.Name), indefinite(k.Projection.Of)).
		Func().Id("New" + s.Name).Params(jen.Id("of").Op("*").Add(f.qual(k.Source.Path, k.Source.Name, k.Projection.Of))).Op("*").Id(s.Name).
		Block(f.filledIn(s, nil, "of")...)
}

// narrower returns the conversions to narrower projections. A field with the name of such a method
// replaces the method.
func (f *file) narrower(k *kind) []jen.Code {
	var all []jen.Code
	wide := k.Projection.Structs[0]
	for _, t := range k.Version.Types {
		if t == k.Type || t.Projection == nil || t.Projection.Of != k.Projection.Of || t.Source != k.Source {
			continue
		}
		s := t.Projection.Structs[0]
		takesName := func(field *model.Field) bool { return field.Name == "As"+s.Name }
		if !hasAll(wide, s) || slices.ContainsFunc(wide.Fields, takesName) {
			continue
		}
		all = append(all, commentf("As%s returns %s with the fields that it has of the %s, which must not be nil. Both share what the fields refer to.",
			s.Name, indefinite(s.Name), wide.Name).
			Func().Params(jen.Id("in").Op("*").Id(wide.Name)).Id("As"+s.Name).Params().Op("*").Id(s.Name).
			Block(f.filledIn(s, wide, "in")...))
	}
	return all
}

// filledIn returns the body of a function that returns a projection with the fields of from: of an
// object or, if wide isn't nil, of that projection.
func (f *file) filledIn(s, wide *model.Struct, from string) []jen.Code {
	c := converter{f: f, locals: locals{file: f}}
	statements := append([]jen.Code{jen.Id("p").Op(":=").New(jen.Id(s.Name))}, c.fields(s, wide, "p", from)...)
	return append(statements, jen.Return(jen.Id("p")))
}

func hasAll(wide, s *model.Struct) bool {
	return !slices.ContainsFunc(s.Fields, func(field *model.Field) bool {
		has := fieldLike(wide, s, field)
		return has == nil || !hasValue(has.Value, field.Value)
	})
}

func hasValue(wide, v *model.Value) bool {
	switch {
	case wide.IsWhole():
		return true
	case v.IsWhole():
		return false
	case v.Struct != nil:
		return hasAll(wide.Struct, v.Struct)
	}
	return hasValue(wide.Elem, v.Elem)
}

// fieldLike returns the field of in for the same API field as s's field; nil if there is none.
func fieldLike(in, s *model.Struct, field *model.Field) *model.Field {
	for _, other := range in.Fields {
		if ownName(in, other) == ownName(s, field) {
			return other
		}
	}
	return nil
}

// ownName returns a field's name without the projection's name, which prefixes its embedded
// structs.
func ownName(s *model.Struct, field *model.Field) string {
	if field.Embedded && !field.Value.IsWhole() {
		return strings.TrimPrefix(field.Name, s.Name)
	}
	return field.Name
}

type converter struct {
	f *file
	locals
}

// fields returns the statements that fill in a projection's struct from the API type's or, if it
// isn't nil, from wide.
func (c *converter) fields(s, wide *model.Struct, to, from string) []jen.Code {
	var statements []jen.Code
	for _, field := range s.Fields {
		source := from
		var has *model.Value
		if wide != nil {
			like := fieldLike(wide, s, field)
			source, has = source+"."+like.Name, like.Value
		} else if field.From != "" {
			source += "." + field.From
		}
		statements = append(statements, c.value(field.Value, has, to+"."+field.Name, source)...)
	}
	return statements
}

// value returns the statements that fill in a zero value. to and from are expressions; from has the
// type wide or, if that is nil, the API's.
func (c *converter) value(v, wide *model.Value, to, from string) []jen.Code {
	var elem *model.Value
	var inner *model.Struct
	if wide != nil {
		elem, inner = wide.Elem, wide.Struct
	}
	switch {
	case v.Struct != nil:
		return c.fields(v.Struct, inner, to, from)
	case v.IsWhole():
		return []jen.Code{jen.Id(to).Op("=").Id(from)}
	case v.Pointer:
		elemTo, elemFrom := to, from
		if v.Elem.Struct == nil {
			elemTo, elemFrom = "(*"+to+")", "(*"+from+")"
		}
		return []jen.Code{jen.If(jen.Id(from).Op("!=").Nil()).Block(append(
			[]jen.Code{jen.Id(to).Op("=").New(c.f.expression(v.Elem.Type))},
			c.value(v.Elem, elem, elemTo, elemFrom)...)...)}
	case v.Map:
		return []jen.Code{jen.If(jen.Id(from).Op("!=").Nil()).Block(
			jen.Id(to).Op("=").Make(c.f.expression(v.Type), jen.Len(jen.Id(from))),
			c.entries(v, elem, to, from),
		)}
	case v.Array:
		return []jen.Code{c.elements(v.Elem, elem, to, from)}
	}
	return []jen.Code{jen.If(jen.Id(from).Op("!=").Nil()).Block(
		jen.Id(to).Op("=").Make(c.f.expression(v.Type), jen.Len(jen.Id(from))),
		c.elements(v.Elem, elem, to, from),
	)}
}

func (c *converter) elements(elem, wide *model.Value, to, from string) jen.Code {
	i := c.name("i")
	defer c.free(i)
	return jen.For(jen.Id(i + " := range " + from)).Block(c.value(elem, wide, to+"["+i+"]", from+"["+i+"]")...)
}

func (c *converter) entries(v, wide *model.Value, to, from string) jen.Code {
	key, value, entry := c.name("key"), c.name("value"), c.name("entry")
	defer c.free(key, value, entry)
	body := append([]jen.Code{jen.Var().Id(entry).Add(c.f.expression(v.Elem.Type))}, c.value(v.Elem, wide, entry, value)...)
	body = append(body, jen.Id(fmt.Sprintf("%s[%s]", to, key)).Op("=").Id(entry))
	return jen.For(jen.Id(key + ", " + value + " := range " + from)).Block(body...)
}
