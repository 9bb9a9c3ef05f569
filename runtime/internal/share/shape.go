// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math/bits"
	"reflect"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// shape describes the references to other memory in values of a type.
type shape struct {
	typ         *layout.Type
	size        uintptr
	refs        []ref
	pieces      []piece // all memory except cacheFields; nil without these
	cacheFields []piece // fields in which reading methods cache a result, in order
}

type piece struct{ from, to uintptr }

type ref struct {
	offset uintptr
	kind   reflect.Kind // Pointer, Slice, Map or Interface
	elem   *shape       // of a pointer or slice
	mapOf  *mapShape    // of a map
	typ    *layout.Type // of an interface
}

const wordSize = bits.UintSize / 8

var shapes = struct {
	mu     sync.Mutex // guards the fields below, and shapes while they are built
	byType map[reflect.Type]*shape
	maps   map[reflect.Type]*mapShape
}{byType: map[reflect.Type]*shape{}, maps: map[reflect.Type]*mapShape{}}

func shapeOf(t reflect.Type) *shape {
	shapes.mu.Lock()
	defer shapes.mu.Unlock()
	return shapeLocked(t)
}

func refTo(t reflect.Type) *ref { return &shapeOf(t).refs[0] }

func shapeLocked(t reflect.Type) *shape {
	if s := shapes.byType[t]; s != nil {
		return s
	}
	of := gotype.Of(t)
	s := &shape{typ: of.Memory, size: t.Size()}
	shapes.byType[t] = s // the type may refer to itself
	for _, leaf := range of.Leaves() {
		s.addLocked(leaf)
	}
	if len(s.cacheFields) > 0 {
		from := uintptr(0)
		for _, m := range append(s.cacheFields, piece{s.size, s.size}) {
			if m.from > from {
				s.pieces = append(s.pieces, piece{from, m.from})
			}
			from = m.to
		}
	}
	return s
}

// addLocked adds the references of a leaf. A time.Time has none: its location pointer belongs to
// package time.
func (s *shape) addLocked(leaf gotype.Leaf) {
	t := leaf.Type.Go
	r := ref{offset: leaf.Offset, kind: t.Kind()}
	switch {
	case leaf.Cache:
		s.cacheFields = append(s.cacheFields, piece{leaf.Offset, leaf.Offset + t.Size()})
		return
	case r.kind == reflect.Pointer || r.kind == reflect.Slice:
		r.elem = shapeLocked(t.Elem())
	case r.kind == reflect.Map:
		r.mapOf = mapLocked(t)
	case r.kind == reflect.Interface:
		r.typ = leaf.Type.Memory
	default:
		return
	}
	s.refs = append(s.refs, r)
}

func mapLocked(t reflect.Type) *mapShape {
	m := shapes.maps[t]
	if m == nil {
		m = &mapShape{typ: layout.TypeOf(t), strings: t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String}
		shapes.maps[t] = m
		m.key, m.value = shapeLocked(t.Key()), shapeLocked(t.Elem())
	}
	return m
}
