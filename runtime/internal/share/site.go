// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math/rand/v2"
	"reflect"
	"sync"
)

// Kind says how the memory of a site looks.
type Kind uint8

const (
	// Reference is a pointer or a map: one word.
	Reference Kind = iota
	// Slice is a slice of any type.
	Slice
	// String is a short string. It is not a part, but found by Predictor.String.
	String
)

// Sites are the places in the types of objects at which parts may be shared. The zero value has
// none. All are added before the first Predictor is made; from then on it is safe for concurrent use.
type Sites struct{ list []*site }

type site struct {
	// Set once at construction.
	kind Kind
	typ  reflect.Type // of the field; nil for strings, and if the parts are nothing but known bytes
	salt uint64       // of the hashes, so that equal bytes at different sites are different parts

	once sync.Once
	ref  *ref // of the field
}

// Add adds a site and returns its number, which counts from 0. typ is the type of the fields there:
// a pointer, a slice or a map. It is nil for strings, and if nothing is at the fields, because only
// the bytes matter.
func (s *Sites) Add(kind Kind, typ reflect.Type) int {
	s.list = append(s.list, &site{kind: kind, typ: typ, salt: rand.Uint64()})
	return len(s.list) - 1
}

// field returns what the fields of the site look like, which is found out when the first part is
// made.
func (s *site) field() *ref {
	s.once.Do(func() { s.ref = refTo(s.typ) })
	return s.ref
}

// Len is the number of sites.
func (s *Sites) Len() int { return len(s.list) }
