// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// goField is a field that has a name in JSON, of a struct or of a struct embedded in it.
type goField struct {
	name   string
	tagged bool
	quoted bool  // tag option "string"
	index  []int // as of reflect.Type.FieldByIndex
	typ    reflect.Type
}

// fieldsOf returns the fields that encoding/json finds in a struct, in their order in the type: of
// several fields of one name the least deeply embedded counts, of those the one with a tag; if that
// leaves several, none counts.
func fieldsOf(t reflect.Type) []goField {
	var all []goField
	byName := map[string][]int{} // indexes in all
	level := []goField{{typ: t}}
	visited := map[reflect.Type]bool{}
	for len(level) > 0 {
		var next []goField
		count := map[reflect.Type]int{}
		for _, s := range level {
			count[s.typ]++
		}
		for _, s := range level {
			if visited[s.typ] {
				continue
			}
			visited[s.typ] = true
			for i := range s.typ.NumField() {
				f, embedded, ok := fieldOf(s.typ.Field(i))
				if !ok {
					continue
				}
				f.index = append(slices.Clone(s.index), i)
				if embedded {
					next = append(next, f)
					continue
				}
				all = append(all, f)
				byName[f.name] = append(byName[f.name], len(all)-1)
				if count[s.typ] > 1 { // a struct embedded twice at one depth hides its own fields
					byName[f.name] = append(byName[f.name], len(all)-1)
				}
			}
		}
		level = next
	}
	var fields []goField
	for i, f := range all {
		if dominant(all, byName[f.name]) == i {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b goField) int { return slices.Compare(a.index, b.index) })
	return fields
}

// fieldOf reads the tag of a field. If the field is embedded, f.typ is the struct whose fields
// count as those of the outer one.
func fieldOf(sf reflect.StructField) (f goField, embedded, ok bool) {
	elem := sf.Type
	if elem.Kind() == reflect.Pointer && elem.Name() == "" {
		elem = elem.Elem()
	}
	if !sf.IsExported() && (!sf.Anonymous || elem.Kind() != reflect.Struct) {
		return f, false, false
	}
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return f, false, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if !isName(name) {
		name = ""
	}
	if name == "" && sf.Anonymous && elem.Kind() == reflect.Struct {
		return goField{typ: elem}, true, true
	}
	f = goField{name: name, tagged: name != "", typ: sf.Type}
	if name == "" {
		f.name = sf.Name
	}
	if slices.Contains(strings.Split(options, ","), "string") {
		kind := elem.Kind()
		f.quoted = kind >= reflect.Bool && kind <= reflect.Float64 || kind == reflect.String
	}
	return f, false, true
}

// dominant returns the candidate that counts for a name, or -1. Candidates are in the order of
// their depth.
func dominant(all []goField, candidates []int) int {
	depth := len(all[candidates[0]].index)
	var tagged, plain []int
	for _, c := range candidates {
		switch {
		case len(all[c].index) > depth:
		case all[c].tagged:
			tagged = append(tagged, c)
		default:
			plain = append(plain, c)
		}
	}
	if len(tagged) == 0 {
		tagged = plain
	}
	if len(tagged) != 1 {
		return -1
	}
	return tagged[0]
}

// isName reports whether encoding/json accepts a tag's name.
func isName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return name != ""
}
