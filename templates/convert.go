// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// newProjection is the function that makes a projection of an object.
func (f *file) newProjection(k *kind, s *model.Struct) *jen.Statement {
	c := converter{f: f, locals: locals{file: f}}
	statements := append([]jen.Code{jen.Id("p").Op(":=").New(jen.Id(s.Name))}, c.fields(s, "p", "of")...)
	return commentf("New%s returns %s with the fields of %s, which must not be nil. Both share what the fields refer to.",
		s.Name, indefinite(s.Name), indefinite(k.Projection.Of)).
		Func().Id("New" + s.Name).Params(jen.Id("of").Op("*").Add(f.qual(k.Source.Path, k.Source.Name, k.Projection.Of))).Op("*").Id(s.Name).
		Block(append(statements, jen.Return(jen.Id("p")))...)
}

// converter writes statements that fill in a projection.
type converter struct {
	f *file
	locals
}

// fields are the statements that fill in a struct of a projection from one of the API type.
func (c *converter) fields(s *model.Struct, to, from string) []jen.Code {
	var statements []jen.Code
	for _, field := range s.Fields {
		source := from
		if field.From != "" {
			source += "." + field.From
		}
		statements = append(statements, c.value(field.Value, to+"."+field.Name, source)...)
	}
	return statements
}

// value are the statements that fill in a value, which is zero. to and from are expressions.
func (c *converter) value(v *model.Value, to, from string) []jen.Code {
	switch {
	case v.Struct != nil:
		return c.fields(v.Struct, to, from)
	case v.IsWhole():
		return []jen.Code{jen.Id(to).Op("=").Id(from)}
	case v.Pointer:
		elemTo, elemFrom := to, from
		if v.Elem.Struct == nil {
			elemTo, elemFrom = "(*"+to+")", "(*"+from+")"
		}
		return []jen.Code{jen.If(jen.Id(from).Op("!=").Nil()).Block(append(
			[]jen.Code{jen.Id(to).Op("=").New(c.f.expression(v.Elem.Type))},
			c.value(v.Elem, elemTo, elemFrom)...)...)}
	case v.Map:
		return []jen.Code{jen.If(jen.Id(from).Op("!=").Nil()).Block(
			jen.Id(to).Op("=").Make(c.f.expression(v.Type), jen.Len(jen.Id(from))),
			c.entries(v, to, from),
		)}
	case v.Array:
		return []jen.Code{c.elements(v.Elem, to, from)}
	}
	return []jen.Code{jen.If(jen.Id(from).Op("!=").Nil()).Block(
		jen.Id(to).Op("=").Make(c.f.expression(v.Type), jen.Len(jen.Id(from))),
		c.elements(v.Elem, to, from),
	)}
}

// elements fills in those of a list.
func (c *converter) elements(elem *model.Value, to, from string) jen.Code {
	i := c.name("i")
	defer c.free(i)
	return jen.For(jen.Id(i + " := range " + from)).Block(c.value(elem, to+"["+i+"]", from+"["+i+"]")...)
}

// entries fills in those of a map.
func (c *converter) entries(v *model.Value, to, from string) jen.Code {
	key, value, entry := c.name("key"), c.name("value"), c.name("entry")
	defer c.free(key, value, entry)
	body := append([]jen.Code{jen.Var().Id(entry).Add(c.f.expression(v.Elem.Type))}, c.value(v.Elem, entry, value)...)
	body = append(body, jen.Id(fmt.Sprintf("%s[%s]", to, key)).Op("=").Id(entry))
	return jen.For(jen.Id(key + ", " + value + " := range " + from)).Block(body...)
}
