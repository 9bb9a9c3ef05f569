// SPDX-License-Identifier: Apache-2.0

// Package jsondec decodes the JSON of Kubernetes API objects, as fast and with as little memory as
// it can. It accepts only usual input, and decodes that exactly as sigs.k8s.io/json does: names are
// case-sensitive and integers stay integers. It declines everything else, invalid JSON included,
// and the caller decodes the same bytes again by a complete decoder. Unusual are duplicate members,
// numbers in a format unfit for the field's type, half surrogate pairs, deep nesting, fields with
// the tag option "string" and a few more.
//
// Decoding allocates only memory kept by the object: one block for all its strings, slices without
// spare capacity, maps of the right size. The object keeps nothing of the input.
//
//	New        compiles a type: a plan for each field, an object for each struct
//	Decoder    reads values by plans, with a method for each kind of plan, and learns from each
//	           object which member follows which, for the next one
//	share      finds parts of objects in memory already, by their bytes
//
// For fields missing from a projection (see object.NoMeta), only the end is looked for. Within
// their objects and arrays, only quotes, backslashes and brackets count, and brackets of both kinds
// alike. The result is the ordinary decoder's for an input with null in their place; whether they
// are valid is unknown. If they have bytes outside of strings that JSON doesn't have there, the end
// may be found too early or too late.
package jsondec

import (
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
)

// Program is the compiled description of a type, for decoding its values. It is safe for concurrent
// use.
type Program struct {
	// Set once at construction.
	compiler *compiler
	root     *object
	pointer  reflect.Type // to the type
	loose    bool         // the type is a projection
}

// New returns the Program for a struct type. It returns an error for a type with decoding methods
// of its own, and for a type without the metadata named by drop. Fields of unusual types are no
// error: an object that sets such a field is declined. Dropped parts must still be JSON, and
// managedFields a list of objects.
func New(t reflect.Type, drop dropped.Parts) (*Program, error) {
	return processCompiler.program(t, drop)
}
