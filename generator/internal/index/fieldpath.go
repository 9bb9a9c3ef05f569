// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

// followed is a path that leads through Go types.
type followed struct {
	text  string
	steps []model.Step
	// words are what names the path in Go: fields and keys of entries. Embedded structs are left
	// out.
	words []string
	// end is the type at the end of the path, without its pointer.
	end types.Type
	// last is the offset in text of the last field.
	last int
	// maybe means that there are objects without anything at the end of the path.
	maybe bool
	// fields are what the path is made of.
	fields []types.Object
}

// fieldPaths follows the paths of an index through the Go types and fills them in.
func (r *Reader) fieldPaths(k Kind, m *marker.Index, x *model.Index) (ok bool) {
	var all []followed
	for _, value := range m.Fields {
		f, problem := followText(k.Type, value.Text)
		var key model.GoType
		if problem == nil {
			key, problem = pathKey(r.output, f)
		}
		if problem != nil {
			r.failIn(m, value, problem)
			continue
		}
		for i, other := range x.Paths {
			if reflect.DeepEqual(other.Steps, f.steps) {
				r.report.Fail(m.At, value.Pos, fmt.Sprintf("%s stands in the key already, as its part %d", value.Text, i+1))
				return false
			}
		}
		all = append(all, f)
		x.Paths = append(x.Paths, &model.FieldPath{Text: f.text, Steps: f.steps, Key: key})
		x.Deprecated = x.Deprecated || r.docs.deprecateAny(f.fields) || r.docs.deprecateType(f.end)
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

// pathKey checks the type at the end of a path.
func pathKey(output Output, f followed) (model.GoType, *textError) {
	key, why := keyType(output, f.end)
	if why == nil {
		return key, nil
	}
	p := textErrorf(f.last, "%s can't be the key of an index: %s", f.text, why.reason)
	s, isStruct := f.end.Underlying().(*types.Struct)
	switch {
	case why.instead != "":
		p.message += "; use func with a function that returns " + why.instead
	case isStruct && marshalsItself(f.end):
		p.message += "; use func with a function that returns the keys"
	case isStruct:
		p.message += "; go on to one of its fields"
		p.allowed = fieldNames(jsonFields(s))
	}
	return model.GoType{}, p
}

// followText reads a path and follows it.
func followText(t types.Type, text string) (followed, *textError) {
	segments, problem := parsePath(text)
	if problem != nil {
		return followed{}, problem
	}
	f, problem := follow(t, text, segments)
	if problem == nil {
		problem = f.isOneValue(f.last)
	}
	return f, problem
}

// follow walks from t to the end of the path. Offsets are those of text, which the segments are a
// part of.
func follow(t types.Type, text string, segments []segment) (followed, *textError) {
	first := segments[0].offset - 1
	// In doc comments gofmt makes a curly quote of two.
	whole := strings.ReplaceAll(text[first:segments[len(segments)-1].after], "['']", `[""]`)
	f := followed{text: whole, last: segments[len(segments)-1].offset, end: t}
	for i, s := range segments {
		soFar := text[first : s.offset-1]
		if i > 0 {
			rest := text[s.offset:segments[len(segments)-1].after]
			if problem := f.isOneValueBefore(soFar, segments[i-1].offset, s, rest); problem != nil {
				return f, problem
			}
		}
		step, problem := f.enter(s, soFar, text[first:s.offset+len(s.name)])
		if problem != nil {
			return f, problem
		}
		for _, l := range s.looks {
			soFar := text[first:l.offset]
			if l.kind == lookEntry && isPlainStruct(f.end) {
				if step.Field != "" {
					f.steps = append(f.steps, step)
				}
				if step, problem = f.enter(segment{name: l.key, offset: l.offset + len("['")}, soFar, text[first:l.after]); problem != nil {
					return f, problem
				}
				continue
			}
			if problem := f.look(&step, l, soFar, text[first:l.after], s.offset); problem != nil {
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

// isPlainStruct reports whether t is a struct whose fields JSON sees.
func isPlainStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok && !marshalsItself(t)
}

// enter goes on to a field and returns the step that leads to it. here is the path with the field.
func (f *followed) enter(s segment, soFar, here string) (model.Step, *textError) {
	field, problem := fieldOf(f.end, soFar, s)
	if problem != nil {
		return model.Step{}, problem
	}
	from := f.end
	for _, embedded := range field.through {
		if !embedded.Exported() {
			continue // its fields can be named without it
		}
		if problem := promoted(from, embedded, s); problem != nil {
			return model.Step{}, problem
		}
		var pointer bool
		from, pointer = deref(embedded.Type())
		f.maybe = f.maybe || pointer
		f.fields = append(f.fields, embedded)
		f.steps = append(f.steps, model.Step{Field: embedded.Name(), Pointer: pointer})
	}
	if problem := promoted(from, field.v, s); problem != nil {
		return model.Step{}, problem
	}
	step := model.Step{Field: field.v.Name()}
	f.words = append(f.words, field.v.Name())
	f.fields = append(f.fields, field.v)
	f.end, step.Pointer = deref(field.v.Type())
	f.maybe = f.maybe || step.Pointer
	if _, ok := f.end.Underlying().(*types.Pointer); ok {
		return model.Step{}, textErrorf(s.offset, pointers, here, typeString(field.v.Type()))
	}
	return step, nil
}

const pointers = "%s (%s) is a pointer to a pointer, or one declared as a type, which a path can't follow"

// look goes on from what the path has led to so far to its elements, its keys or one of its
// entries, and fills step accordingly. here is the path with the look.
func (f *followed) look(step *model.Step, l look, soFar, here string, field int) *textError {
	str := typeString(f.end)
	fail := func(format string, args ...any) *textError { return textErrorf(l.offset, format, args...) }
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
		step.Map = l.kind == lookEach
	default:
		return fail("%s is neither list nor map but one value (%s): leave %s out", soFar, str, strings.TrimPrefix(here, soFar))
	}
	m, isMap := f.end.Underlying().(*types.Map)
	switch l.kind {
	case lookEach:
		step.Each = true
	case lookKeys:
		if !isMap {
			return fail("%s is a list (%s) and has no keys: [*] means every element", soFar, str)
		}
		step.Keys = true
		f.words = append(f.words, "Key")
		f.end = types.Unalias(m.Key())
		f.maybe = true
		return nil
	case lookEntry:
		if !isMap {
			return fail("%s is a list (%s) and has no entry %q: [*] means every element", soFar, str, l.key)
		}
		entry, problem := entryLiteral(m.Key(), l, soFar, str)
		if problem != nil {
			return problem
		}
		step.Entry = entry
		f.words = append(f.words, entryWords(l.key)...)
	}
	f.maybe = true
	f.end, step.ElemPointer = deref(elem)
	if _, ok := f.end.Underlying().(*types.Pointer); ok {
		return fail(pointers, here, typeString(elem))
	}
	return nil
}

// isOneValue returns an error, at offset, if the path ends at a list or a map.
func (f *followed) isOneValue(offset int) *textError {
	str := typeString(f.end)
	switch f.end.Underlying().(type) {
	case *types.Map:
		return textErrorf(offset, "%s is a map (%s), not one value: write %[1]s[*] for every value, %[1]s[keys] for every key or %[1]s['KEY'] for one entry", f.text, str)
	case *types.Slice:
		if isBytes(f.end) {
			return holdsBytes(f.text, str, offset)
		}
		return textErrorf(offset, "%s is a list (%s), not one value: write %[1]s[*] for every element", f.text, str)
	case *types.Array:
		return textErrorf(offset, "%s is a list (%s), not one value: write %[1]s[*] for every element", f.text, str)
	}
	return nil
}

// isOneValueBefore returns an error if soFar leads to a list or a map, so that segment s, with
// which the rest of the path begins, can't follow it.
func (f *followed) isOneValueBefore(soFar string, offset int, s segment, rest string) *textError {
	if m, ok := f.end.Underlying().(*types.Map); ok {
		key := s.name
		if elem, _ := deref(m.Elem()); isBasic(elem) {
			key = rest // nothing but the key can follow
		}
		return textErrorf(s.offset, "%s is a map (%s), whose entries are no fields: write %[1]s['%[3]s'] for the entry %[3]s", soFar, typeString(f.end), key)
	}
	before := followed{text: soFar, end: f.end}
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

func holdsBytes(path, str string, offset int) *textError {
	return textErrorf(offset, "%s holds bytes (%s), which can't be a key: use func with a function that returns the keys", path, str)
}
