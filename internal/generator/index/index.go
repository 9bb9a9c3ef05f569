// SPDX-License-Identifier: Apache-2.0

// Package index reads the markers of indexes. It parses paths and conditions, follows them through
// Go types, looks up functions and owner kinds, and returns model indexes for the templates.
package index

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// Reader reads the indexes of kinds.
type Reader struct {
	report *report.Report
	output Output
	owners *Owners
	funcs  Funcs
	docs   *gotypes.Docs
}

// NewReader returns a Reader that reports errors to r.
func NewReader(r *report.Report, output Output, owners *Owners, funcs Funcs) *Reader {
	return &Reader{report: r, output: output, owners: owners, funcs: funcs, docs: &gotypes.Docs{Position: r.Position}}
}

// Output is the place of the generated code.
type Output struct {
	// ImportPath is the import path of the output folder.
	ImportPath string
	// Has reports whether importPath is a generated package.
	Has func(importPath string) bool
}

// Kind is a type that may have indexes.
type Kind struct {
	Name, Plural string
	Namespaced   bool
	// Package declares Type, which must be checked before Read is called.
	Package *load.Package
	Type    *types.Named
	Markers []*marker.Index
	// ProjectionOf is nil unless Type is a projection. Then it is the projected type, declared by
	// Package, and Fields is the position of the projection's field list.
	ProjectionOf *types.Named
	Fields       token.Position
}

func (k Kind) metadata() string {
	if k.ProjectionOf != nil {
		return k.Name + "Meta"
	}
	return k.metaField("ObjectMeta")
}

// metaField returns the name of the field that embeds a metav1 type, or "".
func (k Kind) metaField(name string) string {
	s := k.Type.Underlying().(*types.Struct)
	if i := gotypes.MetaField(s, name); i >= 0 {
		return s.Field(i).Name()
	}
	return ""
}

// Declared is an index, with the position of its name.
type Declared struct {
	*model.Index
	Pos token.Position
}

var listerMethods = []string{"All", "Get", "InNamespace", "List", "Namespace", "Resource", "Snapshot"}

// Read returns the correct indexes of k, in the order of its markers, and reports errors in the
// others.
func (r *Reader) Read(k Kind) []Declared {
	var indexes []Declared
	first := map[string]token.Position{}
	methods := map[string]string{}
	for _, m := range listerMethods {
		methods[m] = "every lister has a method of this name"
	}
	if k.Namespaced {
		methods[k.Plural] = "the lister's method for a namespace has this name"
	}
	for _, m := range k.Markers {
		name := m.Name.Text
		if !names.IsExported(name) {
			r.report.Fail(m.At, m.Name.Pos, fmt.Sprintf("name %q isn't an exported Go name: it becomes the lister's method%s", name, names.SuggestExported(name)))
			continue
		}
		if other, ok := first[name]; ok {
			r.report.Fail(m.At, m.Name.Pos, fmt.Sprintf("type %s already has an index %s, at %s", k.Name, name, r.report.Short(other)))
			continue
		}
		first[name] = m.Name.Pos
		clash := false
		for _, method := range []string{name, "List" + name} {
			if why, ok := methods[method]; ok && !clash {
				r.report.Fail(m.At, m.Name.Pos, fmt.Sprintf("an index can't be called %s: %s", name, why))
				clash = true
			}
		}
		methods[name] = "an index already has this method"
		methods["List"+name] = fmt.Sprintf("it is already a method of index %s", name)
		if clash {
			continue
		}
		if x := r.index(k, m); x != nil {
			r.warnRepeated(indexes, x, m)
			indexes = append(indexes, Declared{x, m.Name.Pos})
		}
	}
	return indexes
}

func (r *Reader) index(k Kind, m *marker.Index) *model.Index {
	x := &model.Index{Name: m.Name.Text, Namespaced: m.Namespaced.Text == "true"}
	var ok bool
	switch given := keysOf(m); len(given) {
	case 0:
		r.report.Fail(m.At, m.Pos, "index "+x.Name+" has no keys: give it a field, a func or an owner")
		return nil
	case 1:
		ok = r.keys(k, m, x)
	default:
		r.report.Fail(m.At, given[1].at, fmt.Sprintf("index %s has %s and %s: it can have only one of them", x.Name, given[0].text, given[1].text))
	}
	if m.When.IsSet() {
		ok = r.conditions(k, m, x) && ok
	}
	if !r.inNamespace(k, m, x) || !ok {
		return nil
	}
	return x
}

type keySource struct {
	text string
	at   token.Position
}

func keysOf(m *marker.Index) []keySource {
	var given []keySource
	if len(m.Fields) > 0 {
		given = append(given, keySource{"a field", m.Fields[0].Pos})
	}
	if m.Func.IsSet() {
		given = append(given, keySource{"a func", m.Func.Pos})
	}
	if m.Owner.IsSet() {
		given = append(given, keySource{"an owner", m.Owner.Pos})
	}
	return given
}

func (r *Reader) keys(k Kind, m *marker.Index, x *model.Index) (ok bool) {
	switch {
	case m.Func.IsSet():
		return r.function(k, m, x)
	case m.Owner.IsSet():
		return r.hasOwners(k, m) && r.owner(m, x)
	}
	if ok = r.fieldPaths(k, m, x); !ok {
		return false
	}
	for i, path := range x.Paths {
		if why := constantReason(k, path); why != "" {
			r.report.Fail(m.At, m.Fields[i].Pos, why)
			ok = false
		}
	}
	return ok
}

// constantReason returns the reason why all objects have the same value at a path; empty if they
// don't.
func constantReason(k Kind, path *model.FieldPath) string {
	switch {
	case k.isNamespace(path.Steps) && !k.Namespaced:
		return fmt.Sprintf("%s is always empty, because %s is cluster-scoped", path.Text, k.Name)
	case path.Steps[0].Field == k.metaField("TypeMeta"):
		return fmt.Sprintf("%s is the same for every %s, or absent", path.Text, k.Name)
	}
	return ""
}

func (k Kind) isNamespace(steps []model.Step) bool {
	return len(steps) == 2 && steps[0].Field == k.metadata() && steps[1].Field == "Namespace"
}

// inNamespace checks an index with keys per namespace: such keys need a namespace, and only one.
func (r *Reader) inNamespace(k Kind, m *marker.Index, x *model.Index) bool {
	if !x.Namespaced {
		return true
	}
	if !k.Namespaced {
		r.report.Fail(m.At, m.Namespaced.Pos, fmt.Sprintf("namespaced contradicts the scope of %s, which is cluster-scoped", k.Name))
		return false
	}
	for i, path := range x.Paths {
		// with fewer paths than fields, some of them are wrong
		if len(x.Paths) == len(m.Fields) && k.isNamespace(path.Steps) {
			r.report.Fail(m.At, m.Fields[i].Pos, fmt.Sprintf("with namespaced, the namespace is a part of every key: omit %s or namespaced", path.Text))
			return false
		}
	}
	return true
}

// warnRepeated warns about an index that equals an earlier one.
func (r *Reader) warnRepeated(before []Declared, x *model.Index, m *marker.Index) {
	for _, other := range before {
		same := *other.Index
		same.Name = x.Name
		if reflect.DeepEqual(same, *x) {
			r.report.Warn(m.At, m.Name.Pos, fmt.Sprintf("index %s has the same content as index %s at %s", x.Name, other.Name, r.report.Short(other.Pos)))
			return
		}
	}
}

func (r *Reader) failIn(m *marker.Index, value marker.Value, p *jsonpath.Error) {
	r.report.Add(diag.Diagnostic{
		Pos: value.At(p.Offset), Marker: m.At.Name, Message: p.Message, Allowed: p.Allowed, Warning: p.Warning,
	})
}
