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
	// mostNamespaces is the number of listers that are remembered, about 200 bytes each; a power of
	// two.
	mostNamespaces = 4096
	// leastNamespaces is the first size of the hash table; a power of two.
	leastNamespaces = 16
	// near is the number of slots in which a namespace may be, from that of its hash on.
	near = 8
	// longest is the length of the longest valid name of a namespace (RFC 1123 label). Longer ones
	// aren't remembered.
	longest = 63
	// replaced is how many new namespaces come, on average, for each one that replaces another when
	// all slots are taken.
	replaced = 16
)

// namespaces holds the listers of single namespaces, so that asking for one again allocates
// nothing. It isn't generic, and it is an interface: otherwise each package of generated code would
// compile the methods of its atomic.Pointers.
type namespaces interface {
	// of returns the lister of the namespace, or nil if it isn't remembered. It never waits.
	of(namespace string) any
	// remember may store the lister of a namespace, and may drop another one for it. The name must
	// be a result of toKeep. It never waits.
	remember(namespace string, lister any)
}

// newNamespaces isn't inlined: otherwise each package would compile the methods of remembered.
//
//go:noinline
func newNamespaces() namespaces { return new(remembered) }

// remembered is a hash table that is read without a lock. It grows up to mostNamespaces.
type remembered struct {
	slots atomic.Pointer[slots] // nil until a namespace is remembered

	mu sync.Mutex // held while slots are filled
}

// slots has a power of two of them. A namespace is in one of the near slots from that of its hash
// on. It is before the first empty one there, since a slot is never emptied.
type slots []atomic.Pointer[slot]

type slot struct {
	hash      uint64
	namespace string
	lister    any
}

var seed = maphash.MakeSeed()

// toKeep returns a copy of a namespace's name if it may be remembered. It is copied because it may
// be part of a large string.
//
//go:noinline
func toKeep(namespace string) string {
	if len(namespace) > longest {
		return namespace
	}
	return strings.Clone(namespace)
}

func (r *remembered) of(namespace string) any {
	if all := r.slots.Load(); all != nil {
		return all.find(maphash.String(seed, namespace), namespace)
	}
	return nil
}

func (r *remembered) remember(namespace string, lister any) {
	if len(namespace) > longest || !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	all := r.slots.Load()
	if all == nil {
		all = newSlots(leastNamespaces)
		r.slots.Store(all)
	}
	p := &slot{maphash.String(seed, namespace), namespace, lister}
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
		r.slots.Store(all)
	}
}

func newSlots(n int) *slots {
	all := make(slots, n)
	return &all
}

func (all *slots) at(hash uint64, distance int) *atomic.Pointer[slot] {
	return &(*all)[(hash+uint64(distance))&uint64(len(*all)-1)]
}

func (all *slots) find(hash uint64, namespace string) any {
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

// put fills the first empty slot for p, if there is one.
func (all *slots) put(p *slot) bool {
	for i := range near {
		if at := all.at(p.hash, i); at.Load() == nil {
			at.Store(p)
			return true
		}
	}
	return false
}

// grown returns twice as many slots with the namespaces of these. A namespace that finds no slot is
// forgotten.
func (all *slots) grown() *slots {
	more := newSlots(2 * len(*all))
	for i := range *all {
		if p := (*all)[i].Load(); p != nil {
			more.put(p)
		}
	}
	return more
}
