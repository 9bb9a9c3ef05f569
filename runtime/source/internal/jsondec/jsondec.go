// SPDX-License-Identifier: Apache-2.0

// Package jsondec decodes the JSON of Kubernetes API objects, as fast and with as little memory as
// it can. It accepts only what is usual; what it accepts, it decodes exactly as sigs.k8s.io/json
// does, case-sensitive and with integers kept. For everything else, invalid JSON included, it says
// no, and the caller decodes the same bytes again by a decoder that knows everything. Unusual are
// members that are there twice, numbers written in a way that doesn't fit the field's type, half
// surrogate pairs, deep nesting, fields with the tag option "string" and a few more.
//
// What decoding allocates is what the object keeps: one block for all its strings, slices as long
// as needed, maps of the right size. Nothing of the input is kept. For that, strings are noted
// while they are read and set at the end of the object (layout.Text), elements are read into memory
// that is used again and copied when their number is known (layout.Scratch), and maps are filled
// last.
//
//	New        finds out how a type looks: a node for each place, an object for each struct
//	Decoder    reads values by nodes, a method for each kind of node. What it learns on the way (which member follows which, which
//	           strings came last) makes the next object faster
//	share      knows by their bytes which parts of objects are in memory already
//
// Skip, Frame, ReadIdentity and GuessIdentity read JSON without a type.
package jsondec

import (
	"fmt"
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// Drop says which parts of an object's own metadata are only checked to be JSON, and not decoded.
// The zero value drops nothing.
type Drop struct {
	ManagedFields bool // has to be a list of objects
	// by key; if all are dropped, the object has none; never changed from now on
	Annotations map[string]bool
}

// Program knows how values of a type are decoded. It is safe for concurrent use.
type Program struct {
	// Set once at construction.
	root    *node
	pointer reflect.Type // to the type
	sites   share.Sites
	counts  counts
}

// New returns the Program for a struct type. It returns an error for a type that has methods of its
// own to decode it, or not the metadata of which drop wants something dropped. Fields of unusual
// types are no error: an object that has them is refused.
func New(t reflect.Type, drop Drop) (*Program, error) {
	c := compiler{drop: drop, objects: map[reflect.Type]*object{}, types: map[reflect.Type]*layout.Type{}}
	root, err := c.root(t)
	if c.many {
		err = fmt.Errorf("%v has too many fields", t)
	}
	if err != nil {
		return nil, fmt.Errorf("can't compile a decoder: %w", err)
	}
	return &Program{root: root, pointer: reflect.PointerTo(t), sites: c.sites, counts: c.counts}, nil
}
