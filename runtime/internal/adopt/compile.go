// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

type compiler struct {
	program *Program
	shapes  map[*gotype.Type]*shape
}

func (c *compiler) shape(of *gotype.Type) *shape {
	s := c.shapes[of]
	if s == nil {
		s = &shape{typ: of.Memory}
		c.shapes[of] = s // the type may refer to itself
		for _, leaf := range of.Leaves() {
			c.add(s, leaf)
		}
		s.plain = !of.Refers() && len(s.fields) == 1 && s.fields[0].size == of.Go.Size()
	}
	return s
}

func (c *compiler) add(s *shape, leaf gotype.Leaf) {
	p, of, t := c.program, leaf.Type, leaf.Type.Go
	f := field{offset: leaf.Offset, size: t.Size()}
	switch kind := t.Kind(); {
	case leaf.Hidden || leaf.Data:
	case leaf.Name:
		f.kind = nameField
	case kind == reflect.String:
		f.kind, f.site = stringField, p.sites.Add(share.String, nil)
	case kind == reflect.Pointer && !of.Elem().Hides():
		f.kind, f.elem = pointerField, c.shape(of.Elem())
		if k := t.Elem().Kind(); k >= reflect.Bool && k <= reflect.Float64 {
			f.kind = scalarField
		} else {
			f.site = p.sites.Add(share.Reference, t)
		}
	case kind == reflect.Slice:
		f.kind, f.elem, f.site = sliceField, c.shape(of.Elem()), p.sites.Add(share.Slice, t)
	case kind == reflect.Map && t.Key().Kind() == reflect.String:
		f.kind, f.elem, f.typ, f.mapNumber = mapField, c.shape(of.Elem()), of.Memory, p.maps
		f.site, f.keys = p.sites.Add(share.Reference, t), p.sites.Add(share.String, nil)
		p.maps++
	case kind == reflect.Interface && t.NumMethod() == 0:
		f.kind = anyField
	}
	if f.kind == memoryField {
		s.addMemory(f.offset, f.size)
	} else {
		s.fields = append(s.fields, f)
	}
}

func (s *shape) addMemory(offset, size uintptr) {
	if last := len(s.fields) - 1; last >= 0 && s.fields[last].kind == memoryField && s.fields[last].offset+s.fields[last].size == offset {
		s.fields[last].size += size
	} else if size > 0 {
		s.fields = append(s.fields, field{kind: memoryField, offset: offset, size: size})
	}
}
