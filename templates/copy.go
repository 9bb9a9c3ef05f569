// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func (f *file) copyMethods(s *model.Struct) []jen.Code {
	receiver := func() *jen.Statement { return jen.Func().Params(jen.Id("in").Op("*").Id(s.Name)) }
	return []jen.Code{
		f.copyInto(s),
		comment("DeepCopy returns a copy of in that shares nothing with it; nil for nil.").
			Add(receiver()).Id("DeepCopy").Params().Op("*").Id(s.Name).Block(
			jen.If(jen.Id("in").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Id("out").Op(":=").New(jen.Id(s.Name)),
			jen.Id("in").Dot("DeepCopyInto").Call(jen.Id("out")),
			jen.Return(jen.Id("out")),
		),
		comment("DeepCopyObject implements runtime.Object.").
			Add(receiver()).Id("DeepCopyObject").Params().Add(f.qual(runtimePath, "runtime", "Object")).Block(
			jen.If(jen.Id("copied").Op(":=").Id("in").Dot("DeepCopy").Call(), jen.Id("copied").Op("!=").Nil()).
				Block(jen.Return(jen.Id("copied"))),
			jen.Return(jen.Nil()),
		),
	}
}

func (f *file) copyInto(s *model.Struct) *jen.Statement {
	c := copier{f: f, locals: locals{file: f}}
	statements := []jen.Code{jen.Op("*").Id("out").Op("=").Op("*").Id("in")}
	for _, field := range s.Fields {
		statements = append(statements, c.copy(field.Value, "in."+field.Name, "out."+field.Name)...)
	}
	return comment("DeepCopyInto makes out a copy of in that shares nothing with it.").
		Func().Params(jen.Id("in").Op("*").Id(s.Name)).Id("DeepCopyInto").Params(jen.Id("out").Op("*").Id(s.Name)).Block(statements...)
}

type copier struct {
	f *file
	locals
}

// copy returns the statements that deep-copy in to out after an assignment. Both are expressions.
func (c *copier) copy(v *model.Value, in, out string) []jen.Code {
	assign := func(value jen.Code) []jen.Code { return []jen.Code{jen.Id(out).Op("=").Add(value)} }
	switch {
	case v.Plain:
		return nil
	case v.Copy == copyInto:
		return []jen.Code{jen.Id(in + ".DeepCopyInto").Call(jen.Id("&" + out))}
	case v.Copy != "":
		return assign(jen.Id(in + "." + v.Copy).Call())
	case v.Elem == nil:
		return assign(c.f.qual(runtimePath, "runtime", "DeepCopyJSONValue").Call(jen.Id(in)))
	case v.Pointer:
		return []jen.Code{jen.If(jen.Id(in).Op("!=").Nil()).Block(c.pointer(v.Elem, in, out)...)}
	case v.Map:
		return append(assign(c.f.qual("maps", "maps", "Clone").Call(jen.Id(in))), c.entries(v.Elem, in, out)...)
	case v.Array:
		return c.elements(v.Elem, in, out)
	}
	return append(assign(c.f.qual("slices", "slices", "Clone").Call(jen.Id(in))), c.elements(v.Elem, in, out)...)
}

// copyInto is the method that copies to a pointer. Any other copy method returns the copy.
const copyInto = "DeepCopyInto"

func (c *copier) pointer(elem *model.Value, in, out string) []jen.Code {
	switch elem.Copy {
	case "":
		made := jen.Id(out).Op("=").New(jen.Id("*" + in))
		return append([]jen.Code{made}, c.copy(elem, "(*"+in+")", "(*"+out+")")...)
	case copyInto:
		return []jen.Code{
			jen.Id(out).Op("=").New(c.f.expression(elem.Type)),
			jen.Id(in + ".DeepCopyInto").Call(jen.Id(out)),
		}
	}
	return []jen.Code{jen.Id(out).Op("=").New(jen.Id(in + "." + elem.Copy).Call())}
}

func (c *copier) elements(elem *model.Value, in, out string) []jen.Code {
	if elem.Plain {
		return nil
	}
	i := c.name("i")
	defer c.free(i)
	return []jen.Code{jen.For(jen.Id(i + " := range " + in)).Block(c.copy(elem, in+"["+i+"]", out+"["+i+"]")...)}
}

// entries copies the values of a map, through a variable where copying needs an address.
func (c *copier) entries(elem *model.Value, in, out string) []jen.Code {
	if elem.Plain {
		return nil
	}
	key, value := c.name("key"), c.name("value")
	defer c.free(key, value)
	entry := out + "[" + key + "]"
	body := c.copy(elem, value, entry)
	if elem.Copy == copyInto || elem.Array {
		copied := c.name("copied")
		defer c.free(copied)
		body = append([]jen.Code{jen.Id(copied).Op(":=").Id(value)}, c.copy(elem, value, copied)...)
		body = append(body, jen.Id(entry).Op("=").Id(copied))
	}
	return []jen.Code{jen.For(jen.Id(key + ", " + value + " := range " + in)).Block(body...)}
}
