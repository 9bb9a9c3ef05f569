// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

type followedPath struct {
	text  string
	steps []model.Step
	// words name the path in Go: fields and keys of entries, without embedded structs.
	words []string
	// end is the type at the end of the path, without its pointer.
	end types.Type
	// last is the last field's offset in text.
	last int
	// optional means that the end of the path may be missing from an object.
	optional bool
	fields   []types.Object
}

func (r *Reader) fieldPaths(k Kind, m *marker.Index, x *model.Index) (ok bool) {
	var all []followedPath
	for _, value := range m.Fields {
		f, problem := followText(k.Type, value.Text)
		var key model.GoType
		if problem == nil {
			key, problem = r.pathKey(k, f)
		} else if k.ProjectionOf != nil {
			_, wrong := followText(k.ProjectionOf, value.Text)
			problem = r.missingInProjection(k, value.Text, problem, wrong)
		}
		if problem != nil {
			r.failIn(m, value, problem)
			continue
		}
		for i, other := range x.Paths {
			if reflect.DeepEqual(other.Steps, f.steps) {
				r.report.Fail(m.At, value.Pos, fmt.Sprintf("%s is already part %d of the key", value.Text, i+1))
				return false
			}
		}
		all = append(all, f)
		x.Paths = append(x.Paths, &model.FieldPath{Text: f.text, Steps: f.steps, Key: key})
		x.Deprecated = x.Deprecated || r.docs.AnyDeprecated(f.fields) || r.docs.IsTypeDeprecated(f.end)
	}
	switch {
	case len(all) < len(m.Fields):
		return false
	case len(all) == 1:
		x.Key = x.Paths[0].Key
	default:
		for i, name := range partNames(all) {
			x.Paths[i].Name = name
		}
	}
	return true
}

// missingInProjection returns the error about a path without a field in a projection. wrong is the
// error about the path in the whole type, or nil.
func (r *Reader) missingInProjection(k Kind, path string, problem, wrong *jsonpath.Error) *jsonpath.Error {
	if wrong != nil {
		return wrong
	}
	return jsonpath.Errorf(problem.Offset, "projection %s doesn't have %s: add it to the fields at %s", k.Name, path, r.report.Short(k.Fields))
}

func (r *Reader) pathKey(k Kind, f followedPath) (model.GoType, *jsonpath.Error) {
	if n, ok := f.end.(*types.Named); ok && k.ProjectionOf != nil && n.Obj().Pkg() == k.Type.Obj().Pkg() {
		return model.GoType{}, jsonpath.Errorf(f.last, "%s can't be the key of an index: projection %s has only part of it; continue the path to one of its fields", f.text, k.Name)
	}
	key, why := keyType(r.output, f.end)
	if why == nil {
		return key, nil
	}
	p := jsonpath.Errorf(f.last, "%s can't be the key of an index: %s", f.text, why.reason)
	s, isStruct := f.end.Underlying().(*types.Struct)
	switch {
	case why.instead != "":
		p.Message += "; use func with a function that returns " + why.instead
	case isStruct && gotypes.MarshalsItself(f.end):
		p.Message += "; use func with a function that returns the keys"
	case isStruct:
		p.Message += "; continue the path to one of its fields"
		p.Allowed = jsonpath.FieldNames(gotypes.Fields(s))
	}
	return model.GoType{}, p
}

func followText(t types.Type, text string) (followedPath, *jsonpath.Error) {
	segments, problem := jsonpath.Parse(text)
	if problem != nil {
		return followedPath{}, problem
	}
	f, problem := follow(t, text, segments)
	if problem == nil {
		problem = f.isOneValue(f.last)
	}
	return f, problem
}

// follow walks from t to the end of the path. Offsets count in text, which contains the segments.
func follow(t types.Type, text string, segments []jsonpath.Segment) (followedPath, *jsonpath.Error) {
	first := segments[0].Offset - 1
	// gofmt turns two single quotes in doc comments into a curly one.
	whole := strings.ReplaceAll(text[first:segments[len(segments)-1].After], "['']", `[""]`)
	f := followedPath{text: whole, last: segments[len(segments)-1].Offset, end: t}
	for i, s := range segments {
		soFar := text[first : s.Offset-1]
		if i > 0 {
			rest := text[s.Offset:segments[len(segments)-1].After]
			if problem := f.isOneValueBefore(soFar, segments[i-1].Offset, s, rest); problem != nil {
				return f, problem
			}
		}
		step, problem := f.enter(s, soFar, text[first:s.Offset+len(s.Name)])
		if problem != nil {
			return f, problem
		}
		for _, l := range s.Selectors {
			soFar := text[first:l.Offset]
			if l.Kind == jsonpath.Entry && isPlainStruct(f.end) {
				if step.Field != "" {
					f.steps = append(f.steps, step)
				}
				if step, problem = f.enter(jsonpath.Segment{Name: l.Key, Offset: l.Offset + len("['")}, soFar, text[first:l.After]); problem != nil {
					return f, problem
				}
				continue
			}
			if problem := f.applySelector(&step, l, soFar, text[first:l.After], s.Offset); problem != nil {
				return f, problem
			}
			f.steps = append(f.steps, step)
			step = model.Step{}
		}
		if step.Field != "" {
			f.steps = append(f.steps, step)
		}
	}
	return f, nil
}

func isPlainStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok && !gotypes.MarshalsItself(t)
}

// enter moves on to a field and returns that step. here is the path with the field.
func (f *followedPath) enter(s jsonpath.Segment, soFar, here string) (model.Step, *jsonpath.Error) {
	field, problem := jsonpath.FieldOf(f.end, soFar, s, useFunc)
	if problem != nil {
		return model.Step{}, problem
	}
	if problem := jsonpath.Promoted(f.end, field, s, useFunc); problem != nil {
		return model.Step{}, problem
	}
	for _, embedded := range field.Through {
		if !embedded.Exported() {
			continue // its fields can be named without it
		}
		_, pointer := gotypes.Deref(embedded.Type())
		f.optional = f.optional || pointer
		f.fields = append(f.fields, embedded)
		f.steps = append(f.steps, model.Step{Field: embedded.Name(), Pointer: pointer})
	}
	step := model.Step{Field: field.Var.Name()}
	f.words = append(f.words, field.Var.Name())
	f.fields = append(f.fields, field.Var)
	f.end, step.Pointer = gotypes.Deref(field.Var.Type())
	f.optional = f.optional || step.Pointer
	if _, ok := f.end.Underlying().(*types.Pointer); ok {
		return model.Step{}, jsonpath.Errorf(s.Offset, pointers, here, gotypes.String(field.Var.Type()))
	}
	return step, nil
}

const useFunc = "use func with a function that returns the keys"

const pointers = "%s (%s) is a pointer to a pointer or a declared pointer type, which a path can't follow"

// applySelector moves on from soFar to its elements, its keys or one of its entries, and fills in
// step. here is the path including the selector.
func (f *followedPath) applySelector(step *model.Step, l jsonpath.Selector, soFar, here string, field int) *jsonpath.Error {
	str := gotypes.String(f.end)
	fail := func(format string, args ...any) *jsonpath.Error { return jsonpath.Errorf(l.Offset, format, args...) }
	var elem types.Type
	switch u := f.end.Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
		if isBytes(f.end) {
			return holdsBytes(soFar, str, field)
		}
	case *types.Array:
		elem = u.Elem()
		step.Array = true
	case *types.Map:
		elem = u.Elem()
		step.Map = l.Kind == jsonpath.Each
	default:
		return fail("%s is neither a list nor a map but one value (%s): omit %s", soFar, str, strings.TrimPrefix(here, soFar))
	}
	m, isMap := f.end.Underlying().(*types.Map)
	switch l.Kind {
	case jsonpath.Each:
		step.Each = true
	case jsonpath.Keys:
		if !isMap {
			return fail("%s is a list (%s) and has no keys: [*] means every element", soFar, str)
		}
		step.Keys = true
		f.words = append(f.words, "Key")
		f.end = types.Unalias(m.Key())
		f.optional = true
		return nil
	case jsonpath.Entry:
		if !isMap {
			return fail("%s is a list (%s) and has no entry %q: [*] means every element", soFar, str, l.Key)
		}
		entry, problem := entryLiteral(m.Key(), l, soFar, str)
		if problem != nil {
			return problem
		}
		step.Entry = entry
		f.words = append(f.words, entryWords(l.Key)...)
	}
	f.optional = true
	f.end, step.ElemPointer = gotypes.Deref(elem)
	if _, ok := f.end.Underlying().(*types.Pointer); ok {
		return fail(pointers, here, gotypes.String(elem))
	}
	return nil
}

// isOneValue returns an error, at offset, if the path ends at a list or a map.
func (f *followedPath) isOneValue(offset int) *jsonpath.Error {
	str := gotypes.String(f.end)
	switch f.end.Underlying().(type) {
	case *types.Map:
		return jsonpath.Errorf(offset, "%s is a map (%s), not one value: write %[1]s[*] for every value, %[1]s[keys] for every key or %[1]s['KEY'] for one entry", f.text, str)
	case *types.Slice:
		if isBytes(f.end) {
			return holdsBytes(f.text, str, offset)
		}
		return jsonpath.Errorf(offset, "%s is a list (%s), not one value: write %[1]s[*] for every element", f.text, str)
	case *types.Array:
		return jsonpath.Errorf(offset, "%s is a list (%s), not one value: write %[1]s[*] for every element", f.text, str)
	}
	return nil
}

// isOneValueBefore returns an error if soFar leads to a list or a map: segment s can't
// follow. rest is the rest of the path, from s on.
func (f *followedPath) isOneValueBefore(soFar string, offset int, s jsonpath.Segment, rest string) *jsonpath.Error {
	if m, ok := f.end.Underlying().(*types.Map); ok {
		key := s.Name
		if elem, _ := gotypes.Deref(m.Elem()); isBasic(elem) {
			key = rest // nothing can follow the key
		}
		return jsonpath.Errorf(s.Offset, "%s is a map (%s), whose entries aren't fields: write %[1]s['%[3]s'] for the entry %[3]s", soFar, gotypes.String(f.end), key)
	}
	before := followedPath{text: soFar, end: f.end}
	return before.isOneValue(offset)
}

func isBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

func isBytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

func holdsBytes(path, str string, offset int) *jsonpath.Error {
	return jsonpath.Errorf(offset, "%s holds bytes (%s), which can't be a key: use func with a function that returns the keys", path, str)
}
