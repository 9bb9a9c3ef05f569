// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/fields/internal/flow"
)

// commonFields are the fields of every projection.
var commonFields = []string{".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.resourceVersion", ".metadata.uid"}

// Projection returns the sorted fields that a projection of the kind needs for the program, without
// those of every projection. ok is false if the kind is a projection, or if the program uses a
// whole object at once; Uses say where.
func (k *Kind) Projection() (fields []string, ok bool) {
	if k.Projected {
		return nil, false
	}
	return needed(k.Uses)
}

// needed returns the fields that a projection needs for the uses; ok is false if one of them is of
// a whole object.
func needed(uses []Use) (fields []string, ok bool) {
	for _, u := range uses {
		switch {
		case u.field == "":
			return nil, false
		case !slices.Contains(commonFields, u.field):
			fields = append(fields, u.field)
		}
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	// A field that is only checked for presence is implied by any read inside it.
	only := map[string]bool{}
	for _, u := range uses {
		if seen, ok := only[u.field]; u.How == Present && (!ok || seen) {
			only[u.field] = true
		} else {
			only[u.field] = false
		}
	}
	all := fields
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool {
		return slices.ContainsFunc(all, func(other string) bool {
			return other != f && (within(f, other) && !only[other] || only[f] && within(other, f))
		})
	}), true
}

// Marker returns the line that declares a projection with the fields of [Kind.Projection], for the
// comment above the type; "" if there can be none, or if it would have no fields.
func (k *Kind) Marker() string {
	fields, ok := k.Projection()
	if !ok || len(fields) == 0 {
		return ""
	}
	return "+informer:project:name=" + k.Name + "Fields,fields=" + strings.Join(fields, ";")
}

// Entry returns the same declaration for informer-gen.yaml, as an element of packages; "" if Marker
// is.
func (k *Kind) Entry() string {
	fields, ok := k.Projection()
	if !ok || len(fields) == 0 {
		return ""
	}
	for i, f := range fields {
		fields[i] = "'" + strings.ReplaceAll(f, "'", "''") + "'"
	}
	return fmt.Sprintf(`- path: %s
  kinds:
  - name: %s
    projections:
    - name: %[2]sFields
      fields: [%s]
`, k.Package, k.Name, strings.Join(fields, ", "))
}

// isProjection reports whether t is a projection, which embeds metadata of its own.
func isProjection(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range s.Fields() {
		if v.Embedded() && isProjectedMeta(v.Type()) {
			return true
		}
	}
	return false
}

func isProjectedMeta(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || s.NumFields() == 0 {
		return false
	}
	first, ok := types.Unalias(s.Field(0).Type()).(*types.Named)
	return ok && s.Field(0).Embedded() && first.Obj().Name() == "NoMeta" && first.Obj().Pkg().Path() == flow.RuntimePath+"object"
}
