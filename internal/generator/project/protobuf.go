// SPDX-License-Identifier: Apache-2.0

package project

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
)

// A projection is decoded from protobuf by the numbers in its fields' tags. With a field that has
// none, its informers ask for JSON, which costs more to decode. So a projection of a kind that has
// protobuf gets a warning for each path that leads to such a field.

// hasProtobuf reports whether informers of a kind ask for protobuf.
func hasProtobuf(kind *types.Named) bool {
	for method := range kind.Methods() {
		if isUnmarshal(method) {
			return true
		}
	}
	return false
}

// isUnmarshal reports whether a method decodes protobuf, as those do that Kubernetes generates.
func isUnmarshal(method *types.Func) bool {
	s := method.Signature()
	return method.Name() == "Unmarshal" && s.Params().Len() == 1 && s.Results().Len() == 1 &&
		types.Identical(s.Params().At(0).Type(), types.NewSlice(types.Typ[types.Byte]))
}

// warnWithoutNumber reports a selected field that keeps the projection from protobuf.
func (b *builder) warnWithoutNumber(v *types.Var, tag string, n *selected) {
	why := ""
	switch {
	case number(tag) == 0:
		why = fmt.Sprintf("field %s has no number in a protobuf tag", v.Name())
	case n.whole:
		why = unnumbered(v.Type(), map[types.Type]bool{})
	}
	if why == "" {
		return
	}
	for _, leaf := range n.leaves() {
		b.fail(leaf.value, &jsonpath.Error{Offset: leaf.last, Warning: true, Message: fmt.Sprintf(
			"informers of %s ask for JSON because of %s, though those of %s ask for protobuf: %s; leave it out to keep protobuf",
			b.marker.Name.Text, leaf.value.Text, b.kind.Name, why)})
	}
}

// leaves returns what is selected as a whole in n.
func (n *selected) leaves() []*selected {
	if n.whole {
		return []*selected{n}
	}
	var all []*selected
	for _, child := range n.fields {
		all = append(all, child.leaves()...)
	}
	return all
}

// unnumbered returns why values of a type can't be decoded by numbers; "" if they can.
func unnumbered(t types.Type, seen map[types.Type]bool) string {
	t = types.Unalias(t)
	if seen[t] || unmarshals(t) {
		return ""
	}
	seen[t] = true
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		if elem, ok := gotypes.Elem(t); ok {
			return unnumbered(elem, seen)
		}
		return ""
	}
	for i := range s.NumFields() {
		field := s.Field(i)
		if gotypes.IsNamed(field.Type(), gotypes.MetaPath, "TypeMeta") {
			continue // protobuf has it of no object
		}
		if number(s.Tag(i)) == 0 || !field.Exported() {
			return fmt.Sprintf("field %s of type %s has no number in a protobuf tag", field.Name(), gotypes.String(t))
		}
		if why := unnumbered(field.Type(), seen); why != "" {
			return why
		}
	}
	return ""
}

// unmarshals reports whether values of a type are decoded by a method.
func unmarshals(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Unmarshal")
	method, ok := obj.(*types.Func)
	return ok && isUnmarshal(method)
}

// number returns the number of a field that has the tag, or 0.
func number(tag string) uint64 {
	_, rest, _ := strings.Cut(reflect.StructTag(tag).Get("protobuf"), ",")
	text, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseUint(text, 10, 29)
	return n
}
