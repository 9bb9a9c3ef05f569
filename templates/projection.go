// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

func projectionDocFile(p *packages, g *model.Group, v *model.Version) *file {
	f := newFile(p.projections[v], "doc.go", p.source(v))
	f.comment = fmt.Sprintf("// Package %s has projections of types of %s: types with some of their fields.", f.pkg.name, groupVersion(g, v))
	return f
}

func projectionFile(k *kind) *file {
	f := k.file(k.projections, projectionLocals()...)
	f.addProjection(k)
	return f
}

// projectionLocals are the parameters and variables of addProjection's code.
func projectionLocals() []string { return []string{"copied", "in", "of", "out", "p", "value"} }

func (f *file) addProjection(k *kind) {
	f.usesDeprecated = f.usesDeprecated || k.Projection.Deprecated || k.Source.Deprecated
	f.reserve(objectPath, "object")
	f.alias(metaPath, "v1", "metav1")
	for n, s := range k.Projection.Structs {
		switch {
		case n == 0:
			f.add(f.projectionType(k, s), f.newProjection(k, s))
			f.add(f.narrower(k)...)
			f.add(f.copyMethods(s)...)
			continue
		case s.IsMetadata():
			f.add(f.metadataType(k, s))
			f.add(f.metadataAccessors(s)...)
		default:
			f.add(commentf("%s is what %s has of %s.", s.Name, indefinite(k.Name), pick(s.Path == "", "the object itself", s.Path)).
				Type().Id(s.Name).Struct(f.projectedFields(s)...))
		}
		if !s.IsPlain() {
			f.add(f.copyInto(s))
		}
	}
}

func indefinite(name string) string {
	return pick(strings.ContainsAny(name[:1], "AEIO"), "an ", "a ") + name
}

func (f *file) projectionType(k *kind, s *model.Struct) *jen.Statement {
	p := k.Projection
	lines := fold(fmt.Sprintf("%s is %s with some of its fields: %s, and the name, namespace, UID and resourceVersion.",
		s.Name, indefinite(p.Of), listed(p.Paths)))
	lines = append(lines, "")
	lines = append(lines, fold(fmt.Sprintf("It is read and never written: what it doesn't have would be removed from the %s.", p.Of))...)
	return verbatim(append(lines, k.deprecation()...)).Type().Id(s.Name).Struct(f.projectedFields(s)...)
}

func listed(items []string) string {
	if n := len(items) - 1; n > 0 {
		return strings.Join(items[:n], ", ") + " and " + items[n]
	}
	return items[0]
}

func (f *file) projectedFields(s *model.Struct) []jen.Code {
	var embedded, others []jen.Code
	for _, field := range s.Fields {
		tag := jen.Null()
		if field.Tag != "" {
			tag = literalTag(field.Tag)
		}
		if field.Embedded {
			embedded = append(embedded, f.expression(field.Value.Type).Add(tag))
		} else {
			others = append(others, jen.Id(field.Name).Add(f.expression(field.Value.Type)).Add(tag))
		}
	}
	if len(embedded) > 0 && len(others) > 0 {
		embedded = append(embedded, jen.Line())
	}
	return slices.Concat(embedded, others)
}

func literalTag(tag string) *jen.Statement {
	if !strconv.CanBackquote(tag) {
		return jen.Lit(tag)
	}
	return jen.Op("`" + tag + "`")
}

func (f *file) expression(pieces []model.GoType) *jen.Statement {
	s := jen.Null()
	for _, piece := range pieces {
		if piece.Path == "" {
			s.Id(piece.Name)
		} else {
			s.Add(f.qual(piece.Path, piece.Package, piece.Name))
		}
	}
	return s
}
