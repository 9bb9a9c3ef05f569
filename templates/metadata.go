// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func (f *file) metadataType(k *kind, s *model.Struct) *jen.Statement {
	none := jen.Add(f.qual(objectPath, "object", "NoMeta")).Op("`json:\"-\"`")
	return commentf("%s is the metadata of %s.", s.Name, indefinite(k.Name)).
		Type().Id(s.Name).Struct(append([]jen.Code{none, jen.Line()}, f.projectedFields(s)...)...)
}

// metadataAccessors returns the getters and setters of the metadata, except for partial fields. The
// setters are part of metav1.Object and must work: decoders and transforms without knowledge of the
// type call them.
func (f *file) metadataAccessors(s *model.Struct) []jen.Code {
	var all []jen.Code
	for _, field := range s.Fields {
		if !field.Value.IsWhole() {
			continue
		}
		method := func(name, rule string) *jen.Statement {
			return commentf("%s implements metav1.Object%s.", name, rule).Func().Params(jen.Id("in").Op("*").Id(s.Name)).Id(name)
		}
		all = append(all,
			method("Get"+field.Name, "").Params().Add(f.expression(field.Value.Type)).
				Add(oneLine(jen.Return(jen.Id("in").Dot(field.Name)))),
			method("Set"+field.Name, ", for transforms; objects of an informer must not be changed").Params(jen.Id("value").Add(f.expression(field.Value.Type))).
				Add(oneLine(jen.Id("in").Dot(field.Name).Op("=").Id("value"))))
	}
	return all
}
