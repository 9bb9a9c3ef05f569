// SPDX-License-Identifier: Apache-2.0

package table

import (
	"sync/atomic"
	"weak"
)

// array is a persistent sparse array of nodes that costs a Txn little: to change a position takes a
// copy of its node and nothing above it. Its zero value is empty. Copying the struct takes a
// snapshot, which stays as it is.
//
// The newest state and those before it share one base, which has for each position the newest node. A
// node bears the number of the Txn that made it, by which an older state sees that the node is not
// its own. What it had instead stands in a chain of links, one for each change of the base; a
// state begins at the link after its own last change:
//
//	states      A                    B                    C
//	            │ since              │ since              │ since
//	            ▼                    ▼                    ▼
//	chain     1:[position 7: x0] ────▶ 2:[position 7: x1] ────▶ 3:[ ]        A had x0 at position 7, and B had x1
//
//	base     positions[7] ─▶ x2, made by the Txn of C           lasts[7] = 2, log[2].previous = 1
//
// To change position i: 1. fill the chain's empty link with the node that stands there, and append an
// empty one. Further changes of the same Txn insert a filled link before the empty one, so that the
// new state begins behind all of them. 2. note the link's number in the log. 3. store the copy that
// the Txn may change.
//
// To read position i: take the node in the base. If it is newer than the state, or there is none, the
// first link for position i since the state says what the state has; without one it has none. Links
// are numbered from 1 on, and the log has for each the number of the link for the same position before
// it, and that of one further back, so that the first since the state is found in logarithmic time.
//
// Nothing points backwards: the chain from a state on is kept by those who hold the state, and by
// no one else. The log has numbers for that reason. From a number to its link leads a weak pointer
// to the first link of the block, which is there as long as a state that began before it, and no
// more than a block of links from there on.
//
// An old state holds what was changed since, so the chain must not become long: after a number of
// changes the next one moves to a copy of the base, in which there is one node for every position and
// an empty chain. A Txn that changes much moves at the latest then, and what no one else has seen
// yet takes no links.
//
// They are functions, not methods, because methods of a generic type are compiled anew in each
// package that mentions a type in which there is one: here, all packages of generated code.
type array[C any] struct {
	serial uint64   // the Txn that changed this state last
	base   *base[C] // nil as long as the array has never had a node
	since  *link[C] // the first change after this state, empty if there is none
}

type node[C any] struct {
	owner uint64 // the Txn that made it, and may change it until it is published
	c     C
}

type base[C any] struct {
	owner uint64 // the Txn that made it
	nodes []atomic.Pointer[node[C]]
	lasts []atomic.Uint32 // by position: the number of the last link for it, 0 if there is none
	// change n is in block n/blockLen; a block is there before a number in lasts leads to it
	log []*block[C]

	// The writer's, on a cache line of their own, because readers are reading positions all the time:
	_           [6]uint64
	last        *link[C] // the empty one
	filled      *link[C] // the one before it, if the open Txn has filled it
	changesLeft int      // how many changes until the next base
	_           [5]uint64
}

// link says that position had old until a change. It is filled before next is set, and empty until
// then.
type link[C any] struct {
	next     atomic.Pointer[link[C]]
	old      *node[C]
	position uint32
	number   uint32 // of the empty one: the next
}

// block is a piece of the log. It is never changed where it can be read.
type block[C any] struct {
	first   weak.Pointer[link[C]]
	records [blockLen]record
}

// record is what the log says of a link: the number of the link for the same position before it, and
// that of one further back, 0 for none. A jump is as long as the two before it together and one
// more, if they are equally long, else one; so any link of the list is few steps away.
type record struct {
	previous, jump uint32
	length         uint32 // of the list that ends here
}

// A large base takes a change for every second position: then to copy it costs each change 27 bytes.
// A small one takes more, so that a copy is as rare, but at most four for each position: an old state
// holds what was changed since.
const (
	fewChanges  = 64
	manyChanges = 512
	blockLen    = 63 // makes a block of 768 bytes, for which a weak pointer is cheap
)

func changesOf(positions int) int {
	return max(fewChanges, min(4*positions, manyChanges), positions/2)
}

// at returns the node at position i, nil if there is none.
func at[C any](a *array[C], i uint32) *node[C] {
	if a.base == nil || int(i) >= len(a.base.nodes) {
		return nil
	}
	n := a.base.nodes[i].Load()
	if n != nil && n.owner <= a.serial {
		return n
	}
	return replaced(a, i)
}

// replaced returns the node at position i, where the base has none or a newer one.
func replaced[C any](a *array[C], i uint32) *node[C] {
	s := a.base
	number, first := s.lasts[i].Load(), a.since.number
	if number < first {
		return nil
	}
	for {
		switch r := recordAt(s, number); {
		case r.jump >= first:
			number = r.jump
		case r.previous >= first:
			number = r.previous
		default:
			return linkAt(a, number).old
		}
	}
}

// recordAt returns what the log says of the link of that number, which must have been filled; of
// none for 0.
func recordAt[C any](s *base[C], number uint32) record {
	if number == 0 {
		return record{}
	}
	return s.log[number/blockLen].records[number%blockLen]
}

// linkAt returns a link since a by its number. It begins at the first link of the block, unless a
// begins later.
func linkAt[C any](a *array[C], number uint32) *link[C] {
	l, from := a.since, a.since.number
	if first := number / blockLen * blockLen; first > from {
		l, from = a.base.log[number/blockLen].first.Value(), first
	}
	for ; from < number; from++ {
		l = l.next.Load()
	}
	return l
}

// each yields every node with its position, in ascending order, until yield returns false.
func each[C any](a *array[C], yield func(i uint32, n *node[C]) bool) {
	if a.base == nil {
		return
	}
	for i := range uint32(len(a.base.nodes)) {
		if n := at(a, i); n != nil && !yield(i, n) {
			return
		}
	}
}

// own returns the node at position i after it has become owner's. If it is a new one, old is what its
// content is to be copied from, nil for nothing. spare is a link to use, if it isn't in use yet, or
// nil.
func own[C any](a *array[C], owner uint64, i uint32, spare **link[C]) (n *node[C], old *C) {
	s := room(a, owner, i, spare)
	now := s.nodes[i].Load()
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

// drop lets go of the node at position i.
func drop[C any](a *array[C], owner uint64, i uint32, spare **link[C]) {
	put(a, room(a, owner, i, spare), owner, i, nil, spare)
}

func put[C any](a *array[C], s *base[C], owner uint64, i uint32, n *node[C], spare **link[C]) {
	at := &s.nodes[i]
	if s.owner != owner { // else no one has seen it
		old := at.Load()
		if s.filled == nil {
			empty := take(spare)
			empty.number = s.last.number + 1
			s.last.position, s.last.old = i, old
			s.last.next.Store(empty)
			s.filled, s.last = s.last, empty
		} else { // the Txn's links go before the empty one, so that the state after them doesn't hold them
			l := &link[C]{position: i, old: old, number: s.last.number}
			l.next.Store(s.last)
			s.last.number++
			s.filled.next.Store(l)
			s.filled = l
		}
		s.changesLeft--
		note(s, i, s.filled)
	}
	a.serial, a.since = owner, s.last
	at.Store(n)
}

// note writes into the log that l is the last link for position i.
func note[C any](s *base[C], i uint32, l *link[C]) {
	n := l.number
	if s.log[n/blockLen] == nil {
		b := new(block[C])
		if n >= blockLen { // no state begins before the first block
			b.first = weak.Make(l)
		}
		s.log[n/blockLen] = b
	}
	previous := s.lasts[i].Load()
	r, jump := recordAt(s, previous), previous
	if by := recordAt(s, r.jump); r.length-by.length == by.length-recordAt(s, by.jump).length {
		jump = by.jump
	}
	s.log[n/blockLen].records[n%blockLen] = record{previous: previous, jump: jump, length: r.length + 1}
	s.lasts[i].Store(n)
}

// room returns the base for a change of position i: one that has the position, and can take the change.
func room[C any](a *array[C], owner uint64, i uint32, spare **link[C]) *base[C] {
	s := a.base
	if s != nil && int(i) < len(s.nodes) && (s.changesLeft > 0 || s.owner == owner) {
		return s
	}
	var old []atomic.Pointer[node[C]]
	if s != nil {
		old = s.nodes
		for len(old) > 0 && old[len(old)-1].Load() == nil {
			old = old[:len(old)-1]
		}
	}
	moveOff(a)
	n := max(len(old), int(i)+1)
	s = &base[C]{owner: owner, nodes: make([]atomic.Pointer[node[C]], n+n/8), changesLeft: changesOf(n), last: take(spare)}
	s.lasts = make([]atomic.Uint32, len(s.nodes))
	s.log = make([]*block[C], s.changesLeft/blockLen+1)
	s.last.number = 1
	copy(s.nodes, old)
	a.serial, a.base, a.since = owner, s, s.last
	return s
}

// moveOff is called when the open Txn leaves a's base for another one, or for none. The empty link
// of that Txn must not stay at the end of the chain: it is part of the next state, and whoever
// holds an older one would hold all that come.
func moveOff[C any](a *array[C]) {
	if s := a.base; s != nil && s.filled != nil {
		s.last = &link[C]{number: s.filled.number + 1}
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
	if a.base != nil {
		a.base.filled = nil
	}
}

// revert gives the base of a, the newest published state, the content of a again, after changes
// that will never be published.
func revert[C any](a *array[C]) {
	if a.base == nil {
		return
	}
	var changes []*link[C]
	l := a.since
	for next := l.next.Load(); next != nil; next = l.next.Load() {
		changes = append(changes, l)
		l = next
	}
	// the first change of a position is the one that knows what a had
	for i := len(changes) - 1; i >= 0; i-- {
		a.base.nodes[changes[i].position].Store(changes[i].old)
	}
}
