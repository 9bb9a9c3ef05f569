// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math/rand/v2"
	"reflect"
	"sync"
)

// Form is what the fields of a site are.
type Form uint8

const (
	// Reference is a pointer or a map: one word.
	Reference Form = iota
	// Slice is a slice of any type.
	Slice
	// String is a short string. It is not a part; [Predictor.String] finds it.
	String
)

// Sites are the fields of the objects' types whose values may be shared. The zero value has none.
// All sites must be added before the first [Predictor] is made; from then on it is safe for
// concurrent use.
type Sites struct{ list []*site }

type site struct {
	// Set once at construction.
	form Form
	typ  reflect.Type // of the field; nil for strings, and for parts without a value
	salt uint64       // of the hashes: equal bytes at different sites are different parts

	once sync.Once
	ref  *ref // of the field
}

// Add adds a site and returns its number, which counts from 0. typ is the type of the fields: a
// pointer, a slice or a map. It is nil for strings, and for parts of which only the bytes matter.
func (s *Sites) Add(form Form, typ reflect.Type) int {
	s.list = append(s.list, &site{form: form, typ: typ, salt: rand.Uint64()})
	return len(s.list) - 1
}

// field returns the ref of the site's fields. It is built for the first part.
func (s *site) field() *ref {
	s.once.Do(func() { s.ref = refTo(s.typ) })
	return s.ref
}

// Len returns the number of sites.
func (s *Sites) Len() int { return len(s.list) }
