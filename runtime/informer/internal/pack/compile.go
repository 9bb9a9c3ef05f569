// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
)

type compiler struct {
	program *Program
	forms   map[reflect.Type]*form
	text    strings.Builder // the description
	err     error           // the first one

	// open are the types of unexported fields that are known to be data: those of quantities.
	open map[reflect.Type]bool
}

func compile(t reflect.Type) (*Program, error) {
	c := compiler{program: &Program{}, forms: map[reflect.Type]*form{}, open: map[reflect.Type]bool{}}
	c.disclose(reflect.TypeFor[resource.Quantity]())
	p := c.program
	p.root = c.form(t, t.String())
	values := c.form(reflect.TypeFor[any](), "any")
	p.freeMap = field{kind: mapField, of: values, typ: layout.TypeOf(reflect.TypeFor[map[string]any]()), number: p.maps, path: "any"}
	p.freeList = field{kind: listField, of: values, path: "any"}
	p.maps++
	p.description = c.text.String()
	return p, c.err
}

// disclose adds a type, and all that its values refer to, to open.
func (c *compiler) disclose(t reflect.Type) {
	if c.open[t] {
		return
	}
	c.open[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			c.disclose(f.Type)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		c.disclose(t.Elem())
	}
}

// form returns the form of a type, always the same one.
func (c *compiler) form(t reflect.Type, path string) *form {
	s := c.forms[t]
	if s == nil {
		s = &form{typ: layout.TypeOf(t), single: true, number: c.program.forms}
		c.program.forms++
		c.forms[t] = s // the type may refer to itself
		var nested []func()
		c.add(s, t, 0, path, &nested)
		for i := range s.fields {
			if s.fields[i].kind >= stringField && s.fields[i].kind != nilField {
				s.refers = append(s.refers, i)
			}
		}
		fmt.Fprintf(&c.text, "%s.%s\n", t.PkgPath(), t)
		for _, f := range nested {
			f()
		}
	}
	return s
}

// maxArray is the greatest length of an array.
const maxArray = 64

// add adds the fields of a value of type t at an offset to s. What these refer to is compiled by
// nested, which the caller calls once all fields have their places.
func (c *compiler) add(s *form, t reflect.Type, offset uintptr, path string, nested *[]func()) {
	f := field{offset: offset, path: path, kind: nilField, typ: layout.TypeOf(t)}
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		f.kind = timeField
	case k == reflect.Struct:
		s.single = false
		c.addFields(s, t, offset, path, nested)
		return
	case k == reflect.Array:
		s.single = false
		c.addElements(s, t, offset, path, nested)
		return
	case k == reflect.Bool:
		f.kind = boolField
	case k >= reflect.Int && k <= reflect.Int64:
		f.kind, f.size = intField, uint8(t.Size())
	case k >= reflect.Uint && k <= reflect.Uint64:
		f.kind, f.size = uintField, uint8(t.Size())
	case k == reflect.Float32 || k == reflect.Float64:
		f.kind, f.size = floatField, uint8(t.Size())
	case k == reflect.String:
		f.kind = stringField
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		f.kind = bytesField
	case k == reflect.Slice:
		f.kind = sliceField
	case k == reflect.Pointer && !c.hides(t.Elem()):
		f.kind = pointerField
	case k == reflect.Map:
		f.kind, f.number = mapField, c.program.maps
		c.program.maps++
	case k == reflect.Interface && t.NumMethod() == 0:
		f.kind = anyField
	case k == reflect.Complex64 || k == reflect.Complex128 || k == reflect.Uintptr || k == reflect.UnsafePointer:
		c.fail("%s is a %v, which can't be written", path, t)
	}
	fmt.Fprintf(&c.text, "\t%v %d\n", t, f.kind)
	s.fields = append(s.fields, f)
	if number := len(s.fields) - 1; f.kind == pointerField || f.kind == sliceField || f.kind == mapField {
		*nested = append(*nested, func() {
			f := &s.fields[number]
			f.of = c.form(t.Elem(), path)
			if t.Kind() == reflect.Map && t.Key().Kind() != reflect.String {
				f.key = c.form(t.Key(), path)
			}
		})
	}
}

// addFields adds the fields of a struct.
func (c *compiler) addFields(s *form, t reflect.Type, offset uintptr, path string, nested *[]func()) {
	for f := range t.Fields() {
		fmt.Fprintf(&c.text, "\t%s %q\n", f.Name, f.Tag)
		at := len(s.fields)
		c.add(s, f.Type, offset+f.Offset, path+"."+f.Name, nested)
		if gotype.IsName(t, f) {
			s.fields[at].kind = nameField
		}
	}
}

// addElements adds the elements of an array.
func (c *compiler) addElements(s *form, t reflect.Type, offset uintptr, path string, nested *[]func()) {
	if t.Len() > maxArray {
		c.fail("%s is an array of %d elements; at most %d can be written", path, t.Len(), maxArray)
		return
	}
	for i := range t.Len() {
		c.add(s, t.Elem(), offset+uintptr(i)*t.Elem().Size(), path, nested)
	}
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// hides reports whether a struct has unexported fields, whose meaning is unknown.
func (c *compiler) hides(t reflect.Type) bool {
	switch {
	case t.Kind() == reflect.Array:
		return c.hides(t.Elem())
	case t.Kind() != reflect.Struct, t == reflect.TypeFor[time.Time](), c.open[t]:
		return false
	}
	for f := range t.Fields() {
		if !f.IsExported() || c.hides(f.Type) {
			return true
		}
	}
	return false
}
