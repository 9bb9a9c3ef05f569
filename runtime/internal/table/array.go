// SPDX-License-Identifier: Apache-2.0

package table

import "sync/atomic"

// array is a persistent sparse array of nodes that costs a Txn little: to change a place takes a copy of its node and
// nothing above it. Its zero value is empty. Copying the struct takes a snapshot, which stays as it is.
//
// The newest state and those before it share one shelf, which has for each place the newest node. A node bears the
// number of the Txn that made it, by which an older state sees that the node is not its own. What it had instead stands
// in a chain of links, one for each change of the shelf; a state begins at the link after its own last change:
//
//	states      A                    B                    C
//	            │ since              │ since              │ since
//	            ▼                    ▼                    ▼
//	chain     [place 7: x0] ──────▶ [place 7: x1] ──────▶ [ ]          A had x0 at place 7, and B had x1
//
//	shelf     places[7] ─▶ x2, made by the Txn of C
//
// To change place i: 1. fill the chain's empty link with the node that stands there, and append an empty one. Further changes
// of the same Txn insert a filled link before the empty one, so that the new state begins behind all of them. 2. store the
// copy that the Txn may change.
//
// To read place i: take the node in the shelf. If it is newer than the state, or there is none, the first link for place i
// says what the state has; without one it has none.
//
// Nothing points backwards: the chain from a state on is kept by those who hold the state, and by nobody else. It must not
// become long, so after a number of changes the next one moves to a copy of the shelf, in which there is one node for
// every place and an empty chain. A Txn that changes much moves at the latest then, and what nobody else has seen yet
// takes no links.
//
// They are functions, not methods, because methods of a generic type are compiled anew in each package that mentions a
// type in which there is one: here, all packages of generated code.
type array[C any] struct {
	serial uint64    // the Txn that changed this state last
	shelf  *shelf[C] // nil as long as the array has never had a node
	since  *link[C]  // the first change after this state, empty if there is none
}

type node[C any] struct {
	owner uint64 // the Txn that made it, and may change it until it is published
	c     C
}

type shelf[C any] struct {
	owner  uint64 // the Txn that made it
	places []atomic.Pointer[node[C]]

	// The writer's, on a cache line of their own, because readers are reading places all the time:
	_      [4]uint64
	last   *link[C] // the empty one
	filled *link[C] // the one before it, if the open Txn has filled it
	left   int      // how many changes until the next shelf
	_      [5]uint64
}

// link says that place had old until a change. It is filled before next is set, and empty until then.
type link[C any] struct {
	next  atomic.Pointer[link[C]]
	old   *node[C]
	place uint32
}

// A large shelf takes a change for every fourth place: then to copy it costs each change 36 bytes, and a reader of an old state
// walks over as many links at most. A small one takes more, so that a copy is as rare, but at most four for each place: an
// old state holds what was changed since.
const (
	fewChanges  = 64
	manyChanges = 512
	window      = 256 // places that are read together
)

func changesOf(places int) int {
	return max(fewChanges, min(4*places, manyChanges), places/4)
}

// at returns the node at place i, nil if there is none.
func at[C any](a *array[C], i uint32) *node[C] {
	if a.shelf == nil || int(i) >= len(a.shelf.places) {
		return nil
	}
	n := a.shelf.places[i].Load()
	if n != nil && n.owner <= a.serial {
		return n
	}
	return replaced(a, i)
}

// replaced returns the node at place i, where the shelf has none or a newer one.
func replaced[C any](a *array[C], i uint32) *node[C] {
	l := a.since
	for next := l.next.Load(); next != nil; next = l.next.Load() {
		if l.place == i {
			return before(l, a.serial)
		}
		l = next
	}
	return nil
}

// before returns what the state of the Txn serial had in the place of l, the first link for that place which its reader has
// found. There may have been one before it, if the reader came by the empty link of a Txn that went on to insert others before
// that. What they replaced, the reader saw in the shelf, because it looked there first; so it looks for a place here that was
// free, and l has what was put there since.
func before[C any](l *link[C], serial uint64) *node[C] {
	if l.old != nil && l.old.owner > serial {
		return nil
	}
	return l.old
}

// each yields every node with its place, in ascending order, until yield returns false.
func each[C any](a *array[C], yield func(i uint32, n *node[C]) bool) {
	if a.shelf == nil {
		return
	}
	var nodes [window]*node[C]
	for from := 0; from < len(a.shelf.places); from += window {
		some := nodes[:min(len(a.shelf.places)-from, window)]
		read(a, uint32(from), some)
		for i, n := range some {
			if n != nil && !yield(uint32(from+i), n) {
				return
			}
		}
	}
}

// read fills nodes with those from place first on. It walks the chain once for all of them, at most.
func read[C any](a *array[C], first uint32, nodes []*node[C]) {
	places := a.shelf.places[first:]
	doubt := false
	for i := range nodes {
		n := places[i].Load()
		if n == nil || n.owner > a.serial {
			n, doubt = nil, true
		}
		nodes[i] = n
	}
	if doubt {
		restore(a, first, nodes)
	}
}

// restore puts into nodes, which begin with place first, what stood there before the changes since a. Those that are there
// already are a's.
func restore[C any](a *array[C], first uint32, nodes []*node[C]) {
	var done [window]bool
	l := a.since
	for next := l.next.Load(); next != nil; next = l.next.Load() {
		if i := l.place - first; i < uint32(len(nodes)) && nodes[i] == nil && !done[i] {
			nodes[i], done[i] = before(l, a.serial), true
		}
		l = next
	}
}

// own returns the node at place i after it has become owner's. If it is a new one, old is what its content is to be copied
// from, nil for nothing. spare is a link to use, if it isn't in use yet, or nil.
func own[C any](a *array[C], owner uint64, i uint32, spare **link[C]) (n *node[C], old *C) {
	s := room(a, owner, i, spare)
	now := s.places[i].Load()
	if now != nil && now.owner == owner {
		return now, nil
	}
	n = &node[C]{owner: owner}
	put(a, s, owner, i, n, spare)
	if now != nil {
		old = &now.c
	}
	return n, old
}

// drop lets go of the node at place i.
func drop[C any](a *array[C], owner uint64, i uint32, spare **link[C]) {
	put(a, room(a, owner, i, spare), owner, i, nil, spare)
}

func put[C any](a *array[C], s *shelf[C], owner uint64, i uint32, n *node[C], spare **link[C]) {
	place := &s.places[i]
	switch {
	case s.owner == owner: // nobody else has seen it
	case s.filled == nil:
		empty := take(spare)
		s.last.place, s.last.old = i, place.Load()
		s.last.next.Store(empty)
		s.filled, s.last = s.last, empty
		s.left--
	default: // the Txn's links go before the empty one, so that the state after them doesn't hold them
		l := &link[C]{place: i, old: place.Load()}
		l.next.Store(s.last)
		s.filled.next.Store(l)
		s.filled = l
		s.left--
	}
	a.serial, a.since = owner, s.last
	place.Store(n)
}

// room returns the shelf for a change of place i: one that has the place, and can take the change.
func room[C any](a *array[C], owner uint64, i uint32, spare **link[C]) *shelf[C] {
	s := a.shelf
	if s != nil && int(i) < len(s.places) && (s.left > 0 || s.owner == owner) {
		return s
	}
	var old []atomic.Pointer[node[C]]
	if s != nil {
		old = s.places
		for len(old) > 0 && old[len(old)-1].Load() == nil {
			old = old[:len(old)-1]
		}
	}
	moveOff(a)
	n := max(len(old), int(i)+1)
	s = &shelf[C]{owner: owner, places: make([]atomic.Pointer[node[C]], n+n/8), left: changesOf(n), last: take(spare)}
	copy(s.places, old)
	a.serial, a.shelf, a.since = owner, s, s.last
	return s
}

// moveOff is called when the open Txn leaves a's shelf for another one, or for none. The empty link of that Txn must not stay at
// the end of the chain: it is part of the next state, and whoever holds an older one would hold all that come.
func moveOff[C any](a *array[C]) {
	if s := a.shelf; s != nil && s.filled != nil {
		s.last = new(link[C])
		s.filled.next.Store(s.last)
		s.filled = nil
	}
}

// take returns the link that spare points to, once, and new ones from then on.
func take[C any](spare **link[C]) *link[C] {
	if spare == nil || *spare == nil {
		return new(link[C])
	}
	l := *spare
	*spare = nil
	return l
}

// settle forgets what only the Txn that ends needs to know.
func settle[C any](a *array[C]) {
	if a.shelf != nil {
		a.shelf.filled = nil
	}
}

// revert gives the shelf of a, the newest published state, the content of a again, after changes that will never be
// published.
func revert[C any](a *array[C]) {
	if a.shelf == nil {
		return
	}
	var changes []*link[C]
	l := a.since
	for next := l.next.Load(); next != nil; next = l.next.Load() {
		changes = append(changes, l)
		l = next
	}
	for i := len(changes) - 1; i >= 0; i-- { // the first change of a place is the one that knows what a had
		a.shelf.places[changes[i].place].Store(changes[i].old)
	}
}
