// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// gather copies the entries of the map at p, whose keys are strings.
func gather[V any](a *Adopter, f *field, p layout.Pointer) {
	values := a.scratch(f)
	for k, v := range *layout.As[map[string]V](p) {
		to := values.Push()
		*layout.As[V](to) = v
		a.entries = append(a.entries, keyedValue{k, to})
	}
}

func (a *Adopter) gatherAny(f *field, p layout.Pointer) {
	values := a.scratch(f)
	for it := f.typ.Value(p).MapRange(); it.Next(); {
		to := values.Push()
		f.elem.typ.Value(to).SetIterValue(it)
		a.entries = append(a.entries, keyedValue{it.Key().String(), to})
	}
}

func makeMap(f *field, n int, p layout.Pointer) {
	switch f.elem.typ.Reflect() {
	case typeOf[string]():
		*layout.As[map[string]string](p) = make(map[string]string, n)
	default:
		f.typ.Value(p).Set(reflect.MakeMapWithSize(f.typ.Reflect(), n))
	}
}

func (a *Adopter) fill(m *part) {
	entries := a.entries[m.entries : m.entries+m.n]
	switch p := layout.Of(&m.newMap); m.field.elem.typ.Reflect() {
	case typeOf[string]():
		fill[string](p, entries)
	case typeOf[any]():
		fill[any](p, entries)
	default:
		to := m.field.typ.Value(p)
		key := reflect.New(m.field.typ.Reflect().Key()).Elem()
		for _, e := range entries {
			key.SetString(e.key)
			to.SetMapIndex(key, m.field.elem.typ.Value(e.value))
		}
	}
}

func fill[V any](p layout.Pointer, entries []keyedValue) {
	m := *layout.As[map[string]V](p)
	for _, e := range entries {
		m[e.key] = *layout.As[V](e.value)
	}
}
