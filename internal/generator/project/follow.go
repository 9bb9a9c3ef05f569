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
	at    *node
	// end is the current type, without its pointer.
	end types.Type
}

// commonFields are the metadata fields of every projection.
var commonFields = map[string]bool{"Name": true, "Namespace": true, "UID": true, "ResourceVersion": true}

// follow walks along the path, and marks its end as selected.
func (f *follower) follow(segments []jsonpath.Segment) *jsonpath.Error {
	for _, s := range segments {
		if problem := f.enter(s); problem != nil {
			return problem
		}
		for _, l := range s.Selectors {
			if problem := f.applySelector(l); problem != nil {
				return problem
			}
		}
	}
	last := segments[len(segments)-1]
	if n := len(last.Selectors); n > 0 && last.Selectors[n-1].Kind == jsonpath.Each {
		return jsonpath.Errorf(last.Selectors[n-1].Offset,
			"omit [*] at the end: select the whole list or map, or fields of its elements")
	}
	text := f.value.Text
	switch {
	case f.at.whole:
		return jsonpath.Errorf(0, "%s is selected twice", text)
	case len(f.at.fields) > 0:
		return jsonpath.Errorf(0, "%s contains %s, which is selected too: omit one of them", text, f.at.value.Text)
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
		return jsonpath.Errorf(0, "%s is a part of %s, which is selected too: omit one of them", text, f.at.value.Text)
	}
	switch f.end.Underlying().(type) {
	case *types.Slice, *types.Array:
		return jsonpath.Errorf(s.Offset, "%s is a list (%s): write %[1]s[*] before a field of its elements", soFar, gotypes.String(f.end))
	case *types.Map:
		return jsonpath.Errorf(s.Offset, "%s is a map (%s): write %[1]s[*] before a field of its values", soFar, gotypes.String(f.end))
	case *types.Pointer:
		return jsonpath.Errorf(s.Offset, "%s (%s) is a pointer to a pointer or a declared pointer type, which a path can't follow", soFar, gotypes.String(f.end))
	}
	field, problem := jsonpath.FieldOf(f.end, soFar, s, "select it as a whole")
	switch {
	case problem != nil:
		return problem
	case soFar != "" && gotypes.UnmarshalsItself(f.end):
		return jsonpath.Errorf(s.Offset, "%s (%s) has its own JSON decoding, so a projection can't have part of it: select it as a whole", soFar, gotypes.String(f.end))
	}
	if problem := jsonpath.Promoted(f.end, field, s, "omit it"); problem != nil {
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

// applySelector moves on to the elements of a list or map, or to a field whose name is in brackets.
func (f *follower) applySelector(l jsonpath.Selector) *jsonpath.Error {
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
		return jsonpath.Errorf(l.Offset, "%s is neither a list nor a map but one value (%s): omit %s", soFar, str, here)
	case l.Kind == jsonpath.Each:
		f.end, _ = gotypes.Deref(elem)
		return nil
	case !isMap:
		return jsonpath.Errorf(l.Offset, "%s is a list (%s), of which a projection has every element: write [*]", soFar, str)
	}
	return jsonpath.Errorf(l.Offset, "%s is a map (%s), of which a projection has every entry: omit %s for the whole map, or write [*] before a field of its values", soFar, str, here)
}
