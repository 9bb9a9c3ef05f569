// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/metatype"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

type compiler struct {
	program *Program
	shapes  map[reflect.Type]*shape
}

// shape returns the shape of a type, always the same one.
func (c *compiler) shape(t reflect.Type) *shape {
	s := c.shapes[t]
	if s == nil {
		s = &shape{typ: layout.TypeOf(t)}
		c.shapes[t] = s // the type may refer to itself
		c.add(s, t, 0)
		s.plain = len(s.fields) == 1 && s.fields[0].size == t.Size() && !refers(t)
	}
	return s
}

// maxArray is the length up to which arrays whose elements refer to other memory are described.
const maxArray = 64

// add adds the fields of a value of a type at an offset to a shape.
func (c *compiler) add(s *shape, t reflect.Type, offset uintptr) {
	p := c.program
	switch t.Kind() {
	case reflect.String:
		s.fields = append(s.fields, field{kind: stringField, offset: offset, site: p.sites.Add(share.String, nil)})
		return
	case reflect.Struct:
		if t != reflect.TypeFor[time.Time]() {
			c.addFields(s, t, offset)
			return
		}
	case reflect.Array:
		if refers(t.Elem()) && t.Len() <= maxArray {
			for i := range t.Len() {
				c.add(s, t.Elem(), offset+uintptr(i)*t.Elem().Size())
			}
			return
		}
	case reflect.Pointer:
		if !hides(t.Elem()) {
			f := field{kind: pointerField, offset: offset, of: c.shape(t.Elem())}
			if k := t.Elem().Kind(); k >= reflect.Bool && k <= reflect.Float64 {
				f.kind = scalarField
			} else {
				f.site = p.sites.Add(share.Reference, t)
			}
			s.fields = append(s.fields, f)
			return
		}
	case reflect.Slice:
		of := c.shape(t.Elem())
		s.fields = append(s.fields, field{kind: sliceField, offset: offset, of: of, site: p.sites.Add(share.Slice, t)})
		return
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			f := field{kind: mapField, offset: offset, of: c.shape(t.Elem()), typ: layout.TypeOf(t), number: p.maps}
			f.site, f.keys = p.sites.Add(share.Reference, t), p.sites.Add(share.String, nil)
			p.maps++
			s.fields = append(s.fields, f)
			return
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			s.fields = append(s.fields, field{kind: anyField, offset: offset})
			return
		}
	}
	s.addMemory(offset, t.Size())
}

// addFields adds the fields of a struct.
func (c *compiler) addFields(s *shape, t reflect.Type, offset uintptr) {
	for f := range t.Fields() {
		at := offset + f.Offset
		switch {
		case metatype.IsName(t, f):
			s.fields = append(s.fields, field{kind: nameField, offset: at})
		case f.IsExported(), t == reflect.TypeFor[resource.Quantity]() && f.Type.Kind() == reflect.String:
			c.add(s, f.Type, at)
		default:
			s.addMemory(at, f.Type.Size())
		}
	}
}

// addMemory adds raw memory.
func (s *shape) addMemory(offset, size uintptr) {
	if last := len(s.fields) - 1; last >= 0 && s.fields[last].kind == memoryField && s.fields[last].offset+s.fields[last].size == offset {
		s.fields[last].size += size
	} else if size > 0 {
		s.fields = append(s.fields, field{kind: memoryField, offset: offset, size: size})
	}
}

// refers reports whether values of a type refer to other memory.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if refers(f.Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return refers(t.Elem())
	}
	return t.Kind() > reflect.Complex128 // the basic types have lower numbers
}

// hides reports whether a struct has unexported fields, whose meaning is unknown.
func hides(t reflect.Type) bool {
	switch {
	case t.Kind() == reflect.Array:
		return hides(t.Elem())
	case t.Kind() != reflect.Struct, t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[resource.Quantity]():
		return false
	}
	for f := range t.Fields() {
		if !f.IsExported() || hides(f.Type) {
			return true
		}
	}
	return false
}
