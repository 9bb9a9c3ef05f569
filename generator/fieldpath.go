// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

// segment is a part of a path: a field, and whether each of its elements is meant.
type segment struct {
	name   string
	offset int // of the name in the path
	each   bool
	after  int // offset behind the segment
}

// pathError is what is wrong at an offset of a path.
type pathError struct {
	offset  int
	message string
	allowed []string
}

// parsePath reads ".spec.containers[*].image".
func parsePath(text string) ([]segment, *pathError) {
	if !strings.HasPrefix(text, ".") {
		hint := ""
		if r, _ := utf8.DecodeRuneInString(text); unicode.IsLetter(r) {
			hint = fmt.Sprintf(", did you mean .%s?", text)
		}
		return nil, &pathError{0, "a path begins with a dot" + hint, nil}
	}
	var segments []segment
	for i := 0; i < len(text); {
		if text[i] != '.' {
			return nil, &pathError{i, fmt.Sprintf("unexpected %q in the path: write a dot before a field, and [*] behind a list", text[i:i+1]), nil}
		}
		i++
		end := i
		for end < len(text) && !strings.ContainsRune(".[]", rune(text[end])) {
			end++
		}
		if end == i {
			return nil, &pathError{i, "a field's name is missing behind the dot", nil}
		}
		s := segment{name: text[i:end], offset: i}
		i = end
		if rest := text[i:]; strings.HasPrefix(rest, "[") {
			inner, _, closed := strings.Cut(rest[1:], "]")
			switch {
			case !closed:
				return nil, &pathError{i, "the bracket isn't closed", nil}
			case inner == "*":
			case strings.HasPrefix(inner, "'") || strings.HasPrefix(inner, `"`):
				return nil, &pathError{i, "keys of maps are not supported in a path: use func= with a function that returns the keys", nil}
			default:
				return nil, &pathError{i, fmt.Sprintf("[%s] is not supported: [*] stands for every element", inner), nil}
			}
			s.each = true
			i += len("[*]")
			if strings.HasPrefix(text[i:], "[") {
				return nil, &pathError{i, "lists of lists are not supported in a path: use func= with a function that returns the keys", nil}
			}
		}
		s.after = i
		segments = append(segments, s)
	}
	return segments, nil
}

// fieldPath follows the path of an index through the Go types.
func (r *resolver) fieldPath(t *types.Named, m *marker.Index) (*model.FieldPath, model.GoType, bool) {
	text := m.Field.Text
	segments, problem := parsePath(text)
	var steps []model.Step
	var end types.Type
	if problem == nil {
		steps, end, problem = follow(t, text, segments)
	}
	var key model.GoType
	if problem == nil {
		key, problem = r.pathKey(end, text, segments[len(segments)-1])
	}
	if problem != nil {
		pos := m.Field.Pos
		pos.Column += problem.offset
		pos.Offset += problem.offset
		r.fail(m.At, pos, problem.message, problem.allowed)
		return nil, model.GoType{}, false
	}
	return &model.FieldPath{Text: text, Steps: steps}, key, true
}

// pathKey checks the type at the end of a path.
func (r *resolver) pathKey(end types.Type, text string, last segment) (model.GoType, *pathError) {
	key, why := r.key(end, false)
	if why == "" {
		return key, nil
	}
	p := &pathError{last.offset, fmt.Sprintf("%s can't be the key of an index: %s", text, why), nil}
	if s, ok := end.Underlying().(*types.Struct); ok {
		if marshalsItself(end) {
			p.message += "; use func= with a function that returns the keys"
		} else {
			p.message += "; go on to one of its fields"
			p.allowed = fieldNames(jsonFields(s))
		}
	}
	return model.GoType{}, p
}

// follow walks from t to the end of the path.
func follow(t types.Type, text string, segments []segment) (steps []model.Step, end types.Type, problem *pathError) {
	at := t
	for _, segment := range segments {
		soFar := text[:segment.offset-1]
		field, problem := fieldOf(at, soFar, segment)
		if problem != nil {
			return nil, nil, problem
		}
		for _, embedded := range field.through {
			if !embedded.Exported() {
				continue // its fields can be named without it
			}
			_, pointer := deref(embedded.Type())
			steps = append(steps, model.Step{Field: embedded.Name(), Pointer: pointer})
		}
		step := model.Step{Field: field.v.Name()}
		at, step.Pointer = deref(field.v.Type())
		here := text[:segment.after]
		if at, problem = element(at, &step, here, segment); problem != nil {
			return nil, nil, problem
		}
		steps = append(steps, step)
	}
	return steps, at, nil
}

// element goes on from a field of type t to its elements, if it is a list, and fills step accordingly.
func element(t types.Type, step *model.Step, here string, s segment) (types.Type, *pathError) {
	str := typeString(t)
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return nil, &pathError{s.offset, fmt.Sprintf("%s is a pointer to a pointer, which a path can't follow", here), nil}
	case *types.Map:
		return nil, &pathError{s.offset, fmt.Sprintf("%s is a map (%s), which a path can't follow: use func= with a function that returns the keys", strings.TrimSuffix(here, "[*]"), str), nil}
	case *types.Slice:
		if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
			return nil, &pathError{s.offset, fmt.Sprintf("%s holds bytes (%s), which can't be a key: use func= with a function that returns the keys", strings.TrimSuffix(here, "[*]"), str), nil}
		}
		if !s.each {
			return nil, &pathError{s.offset, fmt.Sprintf("%s is a list (%s), not one value: write %s[*] for every element", here, str, here), nil}
		}
		t = u.Elem()
	case *types.Array:
		if !s.each {
			return nil, &pathError{s.offset, fmt.Sprintf("%s is a list (%s), not one value: write %s[*] for every element", here, str, here), nil}
		}
		step.Array = true
		t = u.Elem()
	default:
		if s.each {
			return nil, &pathError{s.offset + len(s.name), fmt.Sprintf("%s is no list but one value (%s): leave [*] out", strings.TrimSuffix(here, "[*]"), str), nil}
		}
		return t, nil
	}
	step.Each = true
	t, step.ElemPointer = deref(t)
	switch t.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map, *types.Pointer:
		return nil, &pathError{s.offset, fmt.Sprintf("the elements of %s are of type %s, which a path can't follow: use func= with a function that returns the keys", strings.TrimSuffix(here, "[*]"), typeString(t)), nil}
	}
	return t, nil
}

// deref returns what t points to, and whether it is a pointer.
func deref(t types.Type) (types.Type, bool) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return types.Unalias(p.Elem()), true
	}
	return types.Unalias(t), false
}

func typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// fieldOf finds the field that segment means in t, which the path soFar led to.
func fieldOf(t types.Type, soFar string, s segment) (jsonField, *pathError) {
	where := soFar
	if where == "" {
		where = typeString(t)
	}
	structure, ok := t.Underlying().(*types.Struct)
	switch {
	case !ok:
		return jsonField{}, &pathError{s.offset, fmt.Sprintf("%s (%s) has no fields: the path ends there", where, typeString(t)), nil}
	case soFar != "" && marshalsItself(t):
		return jsonField{}, &pathError{s.offset, fmt.Sprintf("%s (%s) writes its JSON itself, so that it has no field %s: use func= with a function that returns the keys", where, typeString(t), s.name), nil}
	}
	fields := jsonFields(structure)
	for _, f := range fields {
		if f.name == s.name {
			return f, nil
		}
	}
	names := fieldNames(fields)
	message := fmt.Sprintf("%s has no field %q", where, s.name)
	if soFar != "" {
		message = fmt.Sprintf("%s (%s) has no field %q", where, typeString(t), s.name)
	}
	hint := ""
	for v := range structure.Fields() {
		if v.Name() == s.name && !v.Exported() {
			message = fmt.Sprintf("field %s of %s is unexported, so it isn't part of the API", s.name, typeString(t))
			return jsonField{}, &pathError{s.offset, message, names}
		}
	}
	for _, f := range fields {
		if f.v.Name() == s.name {
			hint = fmt.Sprintf(", did you mean %s? (paths are made of JSON names)", f.name)
		}
	}
	if hint == "" {
		hint = diag.DidYouMean(s.name, names)
	}
	return jsonField{}, &pathError{s.offset, message + hint, names}
}

// marshalsItself says whether the JSON of a type isn't made of its fields.
func marshalsItself(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "MarshalJSON")
	_, ok := obj.(*types.Func)
	return ok
}
