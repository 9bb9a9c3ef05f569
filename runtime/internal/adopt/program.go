// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"reflect"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// Program is the compiled description of a type, for adopting its objects. It is safe for
// concurrent use.
type Program struct {
	// Set once at construction.
	root  *shape
	sites share.Sites
	maps  int // number of map fields

	// The maps and lists in an empty interface. Each uses untypedSites sites, chosen by the key of
	// the value.
	untypedMap, untypedList field
}

const untypedSites = 64

type shape struct {
	typ    *layout.Type
	fields []field // in the order of the memory
	plain  bool    // the memory has no references
}

type field struct {
	kind      fieldKind
	offset    uintptr
	size      uintptr      // of memoryField
	site      int          // of a string, or of the value behind a reference
	keys      int          // site of a map's keys
	elem      *shape       // of a pointer's target, a slice's elements, or a map's values
	mapNumber int          // of a map, among all maps
	typ       *layout.Type // of a map, or of the slice in an interface
}

type fieldKind uint8

const (
	memoryField fieldKind = iota // copied as raw bytes
	stringField
	nameField    // a string that shares its memory with no other: see layout.Text
	scalarField  // a pointer to a number or a boolean
	pointerField // a pointer to anything else
	sliceField
	mapField // a map whose keys are strings
	anyField // an empty interface
	boxField // the slice in an empty interface
)

var programs sync.Map // of *Program, by reflect.Type

// ProgramOf returns the one Program for objects that are pointers to a struct type.
func ProgramOf(t reflect.Type) *Program {
	if p, ok := programs.Load(t); ok {
		return p.(*Program)
	}
	p := &Program{}
	c := compiler{program: p, shapes: map[*gotype.Type]*shape{}}
	p.root = c.shape(gotype.Of(t))
	values := c.shape(gotype.Of(reflect.TypeFor[any]()))
	p.untypedMap = field{kind: mapField, elem: values, typ: layout.TypeOf(reflect.TypeFor[map[string]any]()), mapNumber: p.maps, site: p.sites.Len()}
	p.untypedList = field{kind: boxField, elem: values, typ: layout.TypeOf(reflect.TypeFor[[]any]()), site: p.sites.Len() + untypedSites}
	p.maps++
	for _, t := range []reflect.Type{reflect.TypeFor[map[string]any](), reflect.TypeFor[*[]any]()} {
		for range untypedSites {
			p.sites.Add(share.Reference, t)
		}
	}
	known, _ := programs.LoadOrStore(t, p)
	return known.(*Program)
}
