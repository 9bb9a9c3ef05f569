// SPDX-License-Identifier: Apache-2.0

package gotype

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// JSONField is a field of a struct, or of a struct embedded in it, with a name in JSON.
type JSONField struct {
	Name   string
	Quoted bool  // tag option "string"
	Index  []int // as of reflect.Type.FieldByIndex
	Type   reflect.Type

	tagged bool
}

func jsonFields(t reflect.Type) []JSONField {
	var all []JSONField
	byName := map[string][]int{} // indexes in all
	level := []JSONField{{Type: t}}
	visited := map[reflect.Type]bool{}
	for len(level) > 0 {
		var next []JSONField
		count := map[reflect.Type]int{}
		for _, s := range level {
			count[s.Type]++
		}
		for _, s := range level {
			if visited[s.Type] {
				continue
			}
			visited[s.Type] = true
			for i := range s.Type.NumField() {
				f, embedded, ok := fieldOf(s.Type.Field(i))
				if !ok {
					continue
				}
				f.Index = append(slices.Clone(s.Index), i)
				if embedded {
					next = append(next, f)
					continue
				}
				all = append(all, f)
				byName[f.Name] = append(byName[f.Name], len(all)-1)
				if count[s.Type] > 1 { // a struct embedded twice at one depth hides its own fields
					byName[f.Name] = append(byName[f.Name], len(all)-1)
				}
			}
		}
		level = next
	}
	var fields []JSONField
	for i, f := range all {
		if dominant(all, byName[f.Name]) == i {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b JSONField) int { return slices.Compare(a.Index, b.Index) })
	return fields
}

// fieldOf reads the tag of a field. If the field is embedded, f.Type is the struct whose fields
// count as those of the outer one.
func fieldOf(sf reflect.StructField) (f JSONField, embedded, ok bool) {
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
	if !IsJSONName(name) {
		name = ""
	}
	if name == "" && sf.Anonymous && elem.Kind() == reflect.Struct {
		return JSONField{Type: elem}, true, true
	}
	f = JSONField{Name: name, tagged: name != "", Type: sf.Type}
	if name == "" {
		f.Name = sf.Name
	}
	if slices.Contains(strings.Split(options, ","), "string") {
		kind := elem.Kind()
		f.Quoted = kind >= reflect.Bool && kind <= reflect.Float64 || kind == reflect.String
	}
	return f, false, true
}

// dominant returns the candidate that counts for a name, or -1. Candidates are in the order of
// their depth.
func dominant(all []JSONField, candidates []int) int {
	depth := len(all[candidates[0]].Index)
	var tagged, plain []int
	for _, c := range candidates {
		switch {
		case len(all[c].Index) > depth:
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

// IsJSONName reports whether encoding/json accepts a tag's name.
func IsJSONName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return name != ""
}
