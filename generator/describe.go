// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/token"
	"path"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/resolve"
)

// inspected describes a type, without Accessor and Files.
func inspected(resolved resolve.Type) InspectedType {
	t := InspectedType{
		Package: resolved.Package, Name: resolved.Name, Pos: resolved.Pos, Generated: resolved.Model != nil, Reason: Fact(resolved.Reason), Advice: resolved.Advice,
		Group: Fact(resolved.Group), GroupGoName: Fact(resolved.GroupGoName), Version: Fact(resolved.Version),
		Scope: Fact(resolved.Scope), Resource: Fact(resolved.Resource), Plural: Fact(resolved.Plural),
	}
	if resolved.Model == nil {
		return t
	}
	for i, x := range resolved.Model.Indexes {
		t.Indexes = append(t.Indexes, InspectedIndex{
			Name: x.Name, Key: keyName(t.Name, x), Of: keySource(x), Namespaced: x.Namespaced, Pos: resolved.Indexes[i],
		})
	}
	return t
}

// keyName returns an index's key type as another package writes it.
func keyName(kind string, x *model.Index) string {
	switch {
	case len(x.Paths) > 1:
		return kind + x.Name + "Key"
	case x.Key.Package != "":
		return x.Key.Package + "." + x.Key.Name
	}
	return x.Key.Name
}

// keySource returns the source of an index's keys, in the marker's syntax.
func keySource(x *model.Index) string {
	var text string
	switch {
	case x.Owner != nil && x.Owner.Controller:
		text = "owner controller"
	case x.Owner != nil && x.Owner.Group == "":
		text = "owner " + x.Owner.Kind
	case x.Owner != nil:
		text = "owner " + x.Owner.Kind + "." + x.Owner.Group
	case x.Func != nil:
		text = "func " + x.Func.Package.Path + "." + x.Func.Name
	default:
		var paths []string
		for _, p := range x.Paths {
			paths = append(paths, p.Text)
		}
		text = "field " + strings.Join(paths, ";")
	}
	var conditions []string
	for _, c := range x.When {
		sign := "=="
		if c.Not {
			sign = "!="
		}
		literal := c.Literal
		if literal == "nil" {
			literal = "null"
		}
		conditions = append(conditions, c.Path.Text+sign+literal)
	}
	if len(conditions) > 0 {
		text += " when " + strings.Join(conditions, " && ")
	}
	return text
}

func accessor(t InspectedType, layout model.Layout) string {
	if layout == model.Single {
		return "factory." + t.Plural.Text + "()"
	}
	return "factory." + t.GroupGoName.Text + "()." + names.UpperFirst(t.Version.Text) + "()." + t.Plural.Text + "()"
}

func isFileOf(file, source string, t resolve.Type) bool {
	return t.Model != nil && source == t.Package && path.Base(file) == t.Model.File()+".go"
}

func (t *InspectedType) makeRelative(dir string) {
	positions := []*token.Position{
		&t.Pos, &t.Reason.Pos, &t.Group.Pos, &t.GroupGoName.Pos, &t.Version.Pos, &t.Scope.Pos, &t.Resource.Pos, &t.Plural.Pos,
	}
	for i := range t.Indexes {
		positions = append(positions, &t.Indexes[i].Pos)
	}
	for _, pos := range positions {
		pos.Filename = diag.ShortPath(dir, pos.Filename)
	}
}
