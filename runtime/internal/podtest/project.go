// SPDX-License-Identifier: Apache-2.0

package podtest

import (
	"encoding"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Projection makes a random projection of an API type, a struct of that type's fields and of
// structs with some of their fields. It has no methods, because package reflect can't make them,
// and so no kind either.
func Projection(r *rand.Rand, of reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for f := range of.Fields() {
		switch {
		case f.Type == reflect.TypeFor[metav1.TypeMeta]():
		case f.Type == reflect.TypeFor[metav1.ObjectMeta]():
			fields = append(fields, reflect.StructField{Name: f.Name, Tag: f.Tag, Type: projectMeta(r)})
		case r.IntN(2) == 0:
			fields = append(fields, projectField(r, f, 0))
		}
	}
	return reflect.StructOf(fields)
}

func projectMeta(r *rand.Rand) reflect.Type {
	fields := []reflect.StructField{{Name: "NoMeta", Tag: `json:"-"`, Type: reflect.TypeFor[object.NoMeta]()}}
	for f := range reflect.TypeFor[metav1.ObjectMeta]().Fields() {
		switch f.Name {
		case "Name", "Namespace", "UID", "ResourceVersion":
			fields = append(fields, f)
		default:
			if r.IntN(3) == 0 {
				fields = append(fields, f)
			}
		}
	}
	return reflect.StructOf(fields)
}

func projectField(r *rand.Rand, f reflect.StructField, depth int) reflect.StructField {
	if f.Anonymous || depth < 4 && r.IntN(3) > 0 {
		f.Type = projectType(r, f.Type, depth)
	}
	return reflect.StructField{Name: f.Name, Tag: f.Tag, Type: f.Type, Anonymous: f.Anonymous}
}

func projectType(r *rand.Rand, t reflect.Type, depth int) reflect.Type {
	if decodesItself(t) {
		return t
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(projectType(r, t.Elem(), depth))
	case reflect.Slice:
		return reflect.SliceOf(projectType(r, t.Elem(), depth))
	case reflect.Map:
		return reflect.MapOf(t.Key(), projectType(r, t.Elem(), depth))
	case reflect.Struct:
		var fields []reflect.StructField
		for f := range t.Fields() {
			if r.IntN(2) == 0 {
				fields = append(fields, projectField(r, f, depth+1))
			}
		}
		return reflect.StructOf(fields)
	}
	return t
}

// decodesItself reports whether a type has a method for JSON, so that its fields don't count.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// Project copies from whole the fields of to, a value of a projection or of a part of one.
func Project(to, whole reflect.Value) {
	if to.Type() == whole.Type() {
		to.Set(whole)
		return
	}
	switch to.Kind() {
	case reflect.Struct:
		for i := range to.NumField() {
			if from := whole.FieldByName(to.Type().Field(i).Name); from.IsValid() {
				Project(to.Field(i), from)
			}
		}
	case reflect.Pointer:
		if !whole.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
			Project(to.Elem(), whole.Elem())
		}
	case reflect.Slice:
		if !whole.IsNil() {
			to.Set(reflect.MakeSlice(to.Type(), whole.Len(), whole.Len()))
			for i := range whole.Len() {
				Project(to.Index(i), whole.Index(i))
			}
		}
	case reflect.Map:
		if !whole.IsNil() {
			to.Set(reflect.MakeMap(to.Type()))
			for key, value := range whole.Seq2() {
				part := reflect.New(to.Type().Elem()).Elem()
				Project(part, value)
				to.SetMapIndex(key, part)
			}
		}
	}
}

// WithoutSkipped returns a JSON text with null for each object and array without a field in a
// projection. field returns the type of a struct's field by its name in JSON, or nil.
// WithoutSkipped reads byte by byte, and returns unchanged a text it doesn't understand. It returns
// false if there are bytes outside of strings that JSON doesn't have there, and that a decoder may
// take for brackets, or for the escape of a quote.
func WithoutSkipped(text string, projection reflect.Type, field func(of reflect.Type, name string) reflect.Type) (string, bool) {
	p := pruner{in: text, field: field}
	end := p.value(0, projection)
	if end < 0 {
		return text, !p.invalid
	}
	return p.out.String() + text[end:], !p.invalid
}

type pruner struct {
	in    string
	out   strings.Builder
	field func(of reflect.Type, name string) reflect.Type

	invalid bool // there were bytes outside of strings that JSON doesn't have there
}

func (p *pruner) value(i int, t reflect.Type) int {
	for t.Kind() == reflect.Pointer && !decodesItself(t.Elem()) {
		t = t.Elem()
	}
	i = p.space(i)
	if i == len(p.in) || decodesItself(t) {
		return p.copy(i, p.end(i))
	}
	switch c := p.in[i]; {
	case c == '{' && t.Kind() == reflect.Struct:
		return p.members(i, func(name string) reflect.Type { return p.field(t, name) })
	case c == '{' && t.Kind() == reflect.Map:
		return p.members(i, func(string) reflect.Type { return t.Elem() })
	case c == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		return p.list(i, ']', func(i int) int { return p.value(i, t.Elem()) })
	}
	return p.copy(i, p.end(i))
}

func (p *pruner) members(i int, field func(name string) reflect.Type) int {
	return p.list(i, '}', func(i int) int {
		if i = p.space(i); i == len(p.in) || p.in[i] != '"' {
			return -1
		}
		end := p.end(i)
		if end < 0 {
			return -1
		}
		t := field(p.in[i+1 : end-1])
		if i = p.space(p.copy(i, end)); i == len(p.in) || p.in[i] != ':' {
			return -1
		}
		i = p.space(p.copy(i, i+1))
		if t != nil {
			return p.value(i, t)
		}
		end = p.end(i)
		if end < 0 || p.in[i] != '{' && p.in[i] != '[' {
			return p.copy(i, end)
		}
		p.out.WriteString("null")
		return end
	})
}

func (p *pruner) list(i int, closing byte, element func(int) int) int {
	i = p.space(p.copy(i, i+1))
	for first := true; i < len(p.in); first = false {
		if first && p.in[i] == closing {
			return p.copy(i, i+1)
		}
		if i = element(i); i < 0 {
			return -1
		}
		if i = p.space(i); i == len(p.in) {
			return -1
		}
		switch c := p.in[i]; c {
		case closing:
			return p.copy(i, i+1)
		case ',':
			i = p.space(p.copy(i, i+1))
		default:
			return -1
		}
	}
	return -1
}

func (p *pruner) copy(from, to int) int {
	if to >= 0 {
		p.out.WriteString(p.in[from:to])
	}
	return to
}

func (p *pruner) space(i int) int {
	end := i
	for end < len(p.in) && strings.IndexByte(" \t\n\r", p.in[end]) >= 0 {
		end++
	}
	return p.copy(i, end)
}

func (p *pruner) end(i int) int {
	depth, inside := 0, false
	for start := i; i < len(p.in); i++ {
		switch c := p.in[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			if inside = !inside; !inside && depth == 0 {
				return i + 1
			}
		case inside:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && i > start && strings.IndexByte(", \t\n\r:", c) >= 0:
			return i
		default:
			p.invalid = p.invalid || strings.IndexByte("+-.,: \t\n\r", c) < 0 && (c < '0' || c > '9') && strings.IndexByte("truefalsnE", c) < 0
		}
	}
	return -1
}
