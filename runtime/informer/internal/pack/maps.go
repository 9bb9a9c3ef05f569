// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// The types of map values for which package reflect is not needed.
var (
	stringType   = reflect.TypeFor[string]()
	anyType      = reflect.TypeFor[any]()
	bytesType    = reflect.TypeFor[[]byte]()
	quantityType = reflect.TypeFor[resource.Quantity]()
)

// entries calls each with the entries of the map at p, whose keys are strings if the field has no
// form for them. Key and value are copies, which change with the next call.
func (f *field) entries(p layout.Pointer, each func(key, value layout.Pointer)) {
	value := f.of.typ.Reflect()
	switch {
	case f.key != nil:
		anyEntries(f, f.key.typ.Reflect(), p, each)
	case value == stringType:
		entriesOf[string](p, each)
	case value == anyType:
		entriesOf[any](p, each)
	case value == bytesType:
		entriesOf[[]byte](p, each)
	case value == quantityType:
		entriesOf[resource.Quantity](p, each)
	default:
		anyEntries(f, f.typ.Reflect().Key(), p, each)
	}
}

func entriesOf[V any](p layout.Pointer, each func(key, value layout.Pointer)) {
	var key string
	var value V
	for key, value = range *layout.As[map[string]V](p) {
		each(layout.Of(&key), layout.Of(&value))
	}
}

func anyEntries(f *field, keys reflect.Type, p layout.Pointer, each func(key, value layout.Pointer)) {
	key, value := reflect.New(keys), reflect.New(f.of.typ.Reflect())
	for it := f.typ.Value(p).MapRange(); it.Next(); {
		key.Elem().SetIterKey(it)
		value.Elem().SetIterValue(it)
		each(key.UnsafePointer(), value.UnsafePointer())
	}
}

// mapping writes the map at p.
func (w *Writer) mapping(f *field, p layout.Pointer) {
	w.number(uint64(f.typ.Value(p).Len()))
	f.entries(p, func(key, value layout.Pointer) {
		if f.key != nil {
			w.value(f.key, key)
		} else {
			w.text(*layout.As[string](key))
		}
		w.value(f.of, value)
	})
}

// mapping sets the map at p to one that it reads. An entry can be put into the map only when its
// strings are set, so entries are collected first.
func (r *Reader) mapping(f *field, p layout.Pointer) {
	n := r.length()
	keys, values := r.scratch(f)
	firstKey, firstValue, mark := keys.Len(), values.Len(), r.text.Mark()
	for i := 0; i < n && !r.bad; i++ {
		if key := keys.Push(); f.key != nil {
			r.value(f.key, key)
		} else {
			r.string(key)
		}
		r.value(f.of, values.Push())
	}
	r.text.Set(mark)
	if !r.bad {
		f.fill(p, n, keys, firstKey, values, firstValue)
	}
	keys.Drop(firstKey)
	values.Drop(firstValue)
}

// scratch returns the memory for the keys and for the values of a map.
func (r *Reader) scratch(f *field) (keys, values *layout.Scratch) {
	s := &r.entries[f.number]
	if s[0] == nil {
		key := layout.TypeOf(stringType)
		if f.key != nil {
			key = f.key.typ
		}
		s[0], s[1] = key.NewScratch(), f.of.typ.NewScratch()
	}
	return s[0], s[1]
}

// fill sets the map at p to a new one with n entries.
func (f *field) fill(p layout.Pointer, n int, keys *layout.Scratch, key int, values *layout.Scratch, value int) {
	of := f.of.typ.Reflect()
	switch {
	case f.key == nil && of == stringType:
		fill[string](p, n, keys, key, values, value)
	case f.key == nil && of == anyType:
		fill[any](p, n, keys, key, values, value)
	case f.key == nil && of == bytesType:
		fill[[]byte](p, n, keys, key, values, value)
	case f.key == nil && of == quantityType:
		fill[resource.Quantity](p, n, keys, key, values, value)
	default:
		m, typ := reflect.MakeMapWithSize(f.typ.Reflect(), n), layout.TypeOf(f.typ.Reflect().Key())
		for i := range n {
			m.SetMapIndex(typ.Value(keys.At(key+i)), f.of.typ.Value(values.At(value+i)))
		}
		f.typ.Value(p).Set(m)
	}
}

func fill[V any](p layout.Pointer, n int, keys *layout.Scratch, key int, values *layout.Scratch, value int) {
	m := make(map[string]V, n)
	for i := range n {
		m[*layout.As[string](keys.At(key + i))] = *layout.As[V](values.At(value + i))
	}
	*layout.As[map[string]V](p) = m
}
