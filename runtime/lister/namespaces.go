// SPDX-License-Identifier: Apache-2.0

package lister

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// mostNamespaces is how many a lister remembers, for about 200 bytes each; a power of two.
	mostNamespaces = 4096
	// leastNamespaces is for how many there is room at first; a power of two.
	leastNamespaces = 16
	// near is in how many places after its own a namespace may be.
	near = 8
	// longest is how long the name of a namespace can be (RFC 1123 label). Longer ones aren't
	// remembered.
	longest = 63
	// replaced is after how many new ones, on average, one takes the place of another when all
	// places are taken.
	replaced = 16
)

// namespaces are the listers of single namespaces, so that asking for one again allocates nothing.
// It isn't generic, and a Resource has it behind an interface: each package of generated code would
// compile the methods of its atomic.Pointers.
type namespaces interface {
	// of returns what was remembered for the namespace, or nil. It never waits.
	of(namespace string) any
	// remember may keep the lister of a namespace, whose name is one toKeep, and drop another one.
	// It never waits.
	remember(namespace string, lister any)
}

// newNamespaces isn't inlined, or each package would compile what it returns after all.
//
//go:noinline
func newNamespaces() namespaces { return new(remembered) }

// remembered is a hash table that is read without a lock. It grows up to mostNamespaces.
type remembered struct {
	places atomic.Pointer[places] // nil before the first

	mu sync.Mutex // is held while places are filled
}

// places has a power of two of them. A namespace is in one of the near places from that of its hash
// on, and before an empty one, since a place is never emptied.
type places []atomic.Pointer[place]

type place struct {
	hash      uint64
	namespace string
	lister    any
}

var seed = maphash.MakeSeed()

// toKeep returns the name of a namespace in memory of its own, if it may be remembered: it may be a
// piece of something large.
//
//go:noinline
func toKeep(namespace string) string {
	if len(namespace) > longest {
		return namespace
	}
	return strings.Clone(namespace)
}

func (r *remembered) of(namespace string) any {
	if all := r.places.Load(); all != nil {
		return all.find(maphash.String(seed, namespace), namespace)
	}
	return nil
}

func (r *remembered) remember(namespace string, lister any) {
	if len(namespace) > longest || !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	all := r.places.Load()
	if all == nil {
		all = newPlaces(leastNamespaces)
		r.places.Store(all)
	}
	p := &place{maphash.String(seed, namespace), namespace, lister}
	if all.find(p.hash, namespace) != nil { // by another goroutine
		return
	}
	for !all.put(p) {
		if len(*all) == mostNamespaces {
			if rand.IntN(replaced) == 0 {
				all.at(p.hash, rand.IntN(near)).Store(p)
			}
			return
		}
		all = all.grown()
		r.places.Store(all)
	}
}

func newPlaces(n int) *places {
	all := make(places, n)
	return &all
}

func (all *places) at(hash uint64, distance int) *atomic.Pointer[place] {
	return &(*all)[(hash+uint64(distance))&uint64(len(*all)-1)]
}

func (all *places) find(hash uint64, namespace string) any {
	for i := range near {
		p := all.at(hash, i).Load()
		if p == nil {
			break
		}
		if p.hash == hash && p.namespace == namespace {
			return p.lister
		}
	}
	return nil
}

// put fills the first empty place for p, if there is one.
func (all *places) put(p *place) bool {
	for i := range near {
		if at := all.at(p.hash, i); at.Load() == nil {
			at.Store(p)
			return true
		}
	}
	return false
}

// grown returns twice as many places, with what these have. What finds no place is forgotten.
func (all *places) grown() *places {
	more := newPlaces(2 * len(*all))
	for i := range *all {
		if p := (*all)[i].Load(); p != nil {
			more.put(p)
		}
	}
	return more
}
