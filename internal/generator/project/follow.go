// SPDX-License-Identifier: Apache-2.0

package project

import (
	"go/types"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// follower follows a path through Go types and the nodes for their fields.
type follower struct {
	value marker.Value
	at    *selected
	// end is the current type, without its pointer.
	end types.Type
}

// always are the metadata fields of every projection.
var always = map[string]bool{"Name": true, "Namespace": true, "UID": true, "ResourceVersion": true}

// follow walks along the path, and marks its end as selected.
func (f *follower) follow(segments []jsonpath.Segment) *jsonpath.Error {
	for _, s := range segments {
		if problem := f.enter(s); problem != nil {
			return problem
		}
		for _, l := range s.Looks {
			if problem := f.look(l); problem != nil {
				return problem
			}
		}
	}
	last := segments[len(segments)-1]
	if n := len(last.Looks); n > 0 && last.Looks[n-1].Kind == jsonpath.Each {
		return jsonpath.Errorf(last.Looks[n-1].Offset,
			"leave [*] out at the end: a list or a map is named as a whole, or fields of its elements are")
	}
	text := f.value.Text
	switch {
	case f.at.whole:
		return jsonpath.Errorf(0, "%s is there twice", text)
	case len(f.at.fields) > 0:
		return jsonpath.Errorf(0, "%s has %s in it, which is named too: leave one of them out", text, f.at.value.Text)
	}
	f.at.whole, f.at.value = true, f.value
	return nil
}

func (f *follower) enter(s jsonpath.Segment) *jsonpath.Error {
	text := f.value.Text
	soFar := text[:s.Offset-len(".")]
	if isBracket(text, s) {
		soFar = text[:s.Offset-len("['")]
	}
	if f.at.whole {
		return jsonpath.Errorf(0, "%s is a part of %s, which is named too: leave one of them out", text, f.at.value.Text)
	}
	switch f.end.Underlying().(type) {
	case *types.Slice, *types.Array:
		return jsonpath.Errorf(s.Offset, "%s is a list (%s): write %[1]s[*] before a field of its elements", soFar, gotypes.String(f.end))
	case *types.Map:
		return jsonpath.Errorf(s.Offset, "%s is a map (%s): write %[1]s[*] before a field of its values", soFar, gotypes.String(f.end))
	case *types.Pointer:
		return jsonpath.Errorf(s.Offset, "%s (%s) is a pointer to a pointer, or one declared as a type, which a path can't follow", soFar, gotypes.String(f.end))
	}
	field, problem := jsonpath.FieldOf(f.end, soFar, s, "name it as a whole")
	switch {
	case problem != nil:
		return problem
	case soFar != "" && gotypes.UnmarshalsItself(f.end):
		return jsonpath.Errorf(s.Offset, "%s (%s) reads its JSON itself, so that it can't be had in part: name it as a whole", soFar, gotypes.String(f.end))
	}
	if problem := jsonpath.Promoted(f.end, field, s, "leave it out"); problem != nil {
		return problem
	}
	for _, embedded := range field.Through {
		f.at = f.at.enter(embedded, f.value, s.Offset)
	}
	f.at = f.at.enter(field.Var, f.value, s.Offset)
	f.end, _ = gotypes.Deref(field.Var.Type())
	return nil
}

func isBracket(text string, s jsonpath.Segment) bool { return text[s.Offset-1] != '.' }

// look moves on to the elements of a list or map, or to a field whose name is in brackets.
func (f *follower) look(l jsonpath.Look) *jsonpath.Error {
	text := f.value.Text
	soFar, here := text[:l.Offset], text[l.Offset:l.After]
	var elem types.Type
	isMap := false
	switch u := f.end.Underlying().(type) {
	case *types.Struct:
		if l.Kind == jsonpath.Entry {
			return f.enter(jsonpath.Segment{Name: l.Key, Offset: l.Offset + len("['")})
		}
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem = u.Elem()
	case *types.Map:
		elem, isMap = u.Elem(), true
	}
	str := gotypes.String(f.end)
	switch {
	case elem == nil:
		return jsonpath.Errorf(l.Offset, "%s is neither list nor map but one value (%s): leave %s out", soFar, str, here)
	case l.Kind == jsonpath.Each:
		f.end, _ = gotypes.Deref(elem)
		return nil
	case !isMap:
		return jsonpath.Errorf(l.Offset, "%s is a list (%s), of which a projection has every element: write [*]", soFar, str)
	}
	return jsonpath.Errorf(l.Offset, "%s is a map (%s), of which a projection has every entry: leave %s out for the whole map, or write [*] before a field of its values", soFar, str, here)
}
