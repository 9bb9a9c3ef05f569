// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func applyDocFile(p *packages, g *model.Group, v *model.Version) *file {
	f := newFile(p.configurations[v], "doc.go", p.source(v))
	f.comment = fmt.Sprintf("// Package %s has apply configurations of %s, for server-side apply.", f.pkg.name, groupVersion(g, v))
	return f
}

func applyFile(k *kind) *file {
	f := k.file(k.configurations, "a", "name", "namespace")
	f.addApplyConfiguration(k)
	return f
}

func (f *file) addApplyConfiguration(k *kind) {
	f.usesDeprecated = f.usesDeprecated || k.Apply.Deprecated || k.Source.Deprecated
	f.reserve(k.Source.Path, k.Source.Name)
	f.alias(metaPath, "v1", "metav1")
	for n, s := range k.Apply.Structs {
		for _, field := range s.Fields {
			f.nameVersions(field.Value.Type)
		}
		if n > 0 {
			f.add(commentf("%s is the apply configuration of %s.", s.Name, s.Of).
				Type().Id(s.Name).Struct(f.projectedFields(s)...))
			continue
		}
		f.add(
			f.applyType(k, s),
			f.newApplyConfiguration(k, s),
			comment("IsApplyConfiguration implements runtime.ApplyConfiguration.").
				Func().Params(jen.Op("*").Id(s.Name)).Id("IsApplyConfiguration").Params().Add(inline()),
		)
	}
}

// nameVersions names the imports of packages called v1 and the like after their groups.
func (f *file) nameVersions(pieces []model.GoType) {
	for _, piece := range pieces {
		name := path.Base(path.Dir(piece.Path)) + piece.Package
		if strings.HasPrefix(piece.Path, model.ClientGoConfigurations) {
			f.alias(piece.Path, piece.Package, name+"ac")
		} else if strings.HasPrefix(piece.Path, "k8s.io/api/") {
			f.alias(piece.Path, piece.Package, name)
		}
	}
}

func (f *file) applyType(k *kind, s *model.Struct) *jen.Statement {
	lines := fold(fmt.Sprintf("%s is the apply configuration of %s. Its set fields are sent, zero values included, and no others.",
		s.Name, indefinite(k.Name)))
	return verbatim(append(lines, k.deprecation()...)).Type().Id(s.Name).Struct(f.projectedFields(s)...)
}

func (f *file) newApplyConfiguration(k *kind, s *model.Struct) *jen.Statement {
	params := []jen.Code{jen.Id("name").String()}
	metadata := []jen.Code{jen.Id("Name").Op(":").Op("&").Id("name")}
	title := "name"
	if k.Namespaced {
		params = []jen.Code{jen.List(jen.Id("name"), jen.Id("namespace")).String()}
		metadata = append(metadata, jen.Id("Namespace").Op(":").Op("&").Id("namespace"))
		title = "name and namespace"
	}
	typeMeta := []jen.Code{
		jen.Id("Kind").Op(":").New(jen.Lit(k.Name)),
		jen.Id("APIVersion").Op(":").New(jen.Lit(groupVersion(k.Group, k.Version))),
	}
	part := func(field *model.Field, values []jen.Code) jen.Code {
		return jen.Id(field.Name).Op(":").Add(f.expression(field.Value.Type)).Add(inline(values...))
	}
	lines := []string{fmt.Sprintf("%s returns the apply configuration of %s with this %s.", k.Name, indefinite(k.Name), title)}
	return verbatim(append(lines, k.deprecation()...)).
		Func().Id(k.Name).Params(params...).Op("*").Id(s.Name).Block(
		jen.Return(jen.Op("&").Id(s.Name).Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true},
			part(s.Fields[0], typeMeta), part(s.Fields[1], metadata))))
}
