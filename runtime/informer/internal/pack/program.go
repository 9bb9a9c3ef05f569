// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"reflect"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Program is the compiled description of a Go type. It is safe for concurrent use.
type Program struct {
	// Set once at construction.
	root        *form
	forms       int // their number
	maps        int // number of map fields
	description string

	// The maps and lists that an empty interface may have in it.
	freeMap, freeList field
}

// form is how values of a type are written.
type form struct {
	typ    *layout.Type
	fields []field // in the order of the memory
	refers []int   // those of fields that refer to other memory
	single bool    // the type is no struct, and has one field
	number int     // among all forms
}

// field is a part of a value: a field of a struct, or the whole value of another type.
type field struct {
	kind   fieldKind
	size   uint8 // of a number, in bytes
	offset uintptr
	of     *form        // of a pointer's target, a slice's elements, or a map's values
	key    *form        // of a map's keys, if they are no strings
	typ    *layout.Type // of the field itself
	number int          // of a map, among all maps
	path   string       // for errors
}

// fieldKind is how a field is written.
type fieldKind uint8

const (
	boolField fieldKind = iota
	intField
	uintField
	floatField
	timeField
	stringField
	nameField    // a string that shares its memory with no other: see layout.Text
	pointerField // a pointer
	sliceField
	bytesField // a slice of bytes
	mapField
	anyField  // an empty interface
	listField // the slice in an empty interface
	nilField  // a value of a type that can't be written, which must be zero
)

// programs has what ProgramOf has returned: *Program or error, by reflect.Type.
var programs sync.Map

// ProgramOf returns the one Program for a struct type. It returns an error that names the field if
// the type has one whose values can't be written at all. Fields of functions, channels, interfaces
// with methods, and pointers to structs with unexported fields are not an error: [Writer.Append]
// returns one if they are not nil.
func ProgramOf(t reflect.Type) (*Program, error) {
	known, ok := programs.Load(t)
	if !ok {
		p, err := compile(t)
		made := any(p)
		if err != nil {
			made = err
		}
		known, _ = programs.LoadOrStore(t, made)
	}
	if err, ok := known.(error); ok {
		return nil, err
	}
	return known.(*Program), nil
}

// Description returns a text that is equal for types whose values have the same fields, of the same
// types, in the same order, with the same tags.
func (p *Program) Description() string { return p.description }
