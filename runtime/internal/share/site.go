// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
)

// Form is the form of a site's fields.
type Form uint8

const (
	// Reference is a pointer or a map: one word.
	Reference Form = iota
	// Slice is a slice of any type.
	Slice
	// String is a short string. It is not a part; [Finder.String] finds it.
	String
)

// Sites are the fields of the objects' types whose values may be shared. The zero value has none.
// It is safe for concurrent use, also while sites are added.
type Sites struct {
	mu sync.Mutex // guards writes of list
	// list has nil for strings. Its sites never change.
	list atomic.Pointer[[]*site]
}

type site struct {
	// Set once at construction.
	form Form
	typ  reflect.Type // of the field
	salt uint64       // of the hashes: equal bytes at different sites are different parts

	once sync.Once
	ref  *ref // of the field
}

// Add adds a site and returns its number, which counts from 0. typ is the type of the fields: a
// pointer, a slice or a map. It is nil for strings.
func (s *Sites) Add(form Form, typ reflect.Type) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var added *site
	if form != String {
		added = &site{form: form, typ: typ, salt: rand.Uint64()}
	}
	list := append(s.all(), added) // readers of the same array see a shorter list
	s.list.Store(&list)
	return len(list) - 1
}

func (s *Sites) all() []*site {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// fieldRef returns the ref of the site's fields. It is built for the first part.
func (s *site) fieldRef() *ref {
	s.once.Do(func() { s.ref = refTo(s.typ) })
	return s.ref
}

// Len returns the number of sites.
func (s *Sites) Len() int { return len(s.all()) }
