// SPDX-License-Identifier: Apache-2.0

package table

import (
	"sync/atomic"
	"weak"
)

// array is a persistent sparse array of nodes. A change of a position copies its node and nothing
// else. The zero value is empty. Copying the struct takes a snapshot, which never changes; in what
// follows each copy is called a state.
//
// The newest state and older ones share one base, which has the newest node of each position. A
// node bears the number of the Txn that made it, so an older state sees that the node is newer than
// itself. The older node is in a chain of links, one link for each change of the base. A state
// begins at the link after its own last change:
//
//	states     A                     B                     C
//	           │ since               │ since               │ since
//	           ▼                     ▼                     ▼
//	chain    1:[position 7: x0] ──▶ 2:[position 7: x1] ──▶ 3:[ ]     A had x0 there, and B had x1
//
//	base     nodes[7] ─▶ x2, made by the Txn of C; lasts[7] = 2; log[2].previous = 1
//
// To change position i: 1. fill the chain's empty link with the present node, and append a new
// empty link. Further changes of the same Txn insert a filled link before the empty one, so that
// the new state begins after all of them. 2. write the link's number into the log. 3. store the
// copy of the node, which the Txn may change.
//
// To read position i: take the node in the base. If it is newer than the state, or there is none,
// the first link for position i since the state has the state's node; if there is no such link, the
// state has no node there. Links are numbered from 1 on. The log has for each link the number of
// the previous link for the same position, and the number of one further back. So the first link
// since the state is found in logarithmic time.
//
// Nothing points backwards: only states keep the chain from their own link on alive. That is why
// the log has numbers instead of pointers. The link of a number is found by a weak pointer to the
// first link of the block. That link exists as long as a state that began before it, and from there
// the number is at most a block of links away.
//
// An old state keeps everything alive that was changed since, so the chain must not become long.
// After a number of changes the next change makes a copy of the base, with one node for every
// position and an empty chain. Further changes of the Txn that made the copy take no links, because
// no other state uses it yet.
//
// The operations are functions, not methods. Methods of a generic type are compiled again in each
// package that mentions a type with a field of it: here, in all packages of generated code.
type array[C any] struct {
	serial uint64   // the Txn that changed this state last
	base   *base[C] // nil until the array has its first node
	since  *link[C] // the first change after this state; empty if there is none
}

type node[C any] struct {
	owner uint64 // the Txn that made it, and may change it until it is published
	c     C
}

type base[C any] struct {
	owner uint64 // the Txn that made it
	nodes []atomic.Pointer[node[C]]
	lasts []atomic.Uint32 // by position: the number of its last link, 0 if there is none
	// change n is in block n/blockLen; a block is there before a number in lasts leads to it
	log []*block[C]

	// Used by the writer. On cache lines of their own, because readers read the fields above all
	// the time:
	_           [6]uint64
	last        *link[C] // the empty one
	filled      *link[C] // the one before it, if the open Txn has filled it
	changesLeft int      // changes until a new base is made
	_           [5]uint64
}

// link records the node old that a position had before a change. It is filled before next is set,
// and empty until then.
type link[C any] struct {
	next     atomic.Pointer[link[C]]
	old      *node[C]
	position uint32
	number   uint32 // of the empty link: the number of the next change
}

// block is a piece of the log. It is never changed where it can be read.
type block[C any] struct {
	first   weak.Pointer[link[C]]
	records [blockLen]record
}

// record is a link's entry in the log: the numbers of the previous link for the same position and
// of one further back, 0 for none. The links of a position form a skip list: a jump spans the two
// jumps before it and one more link if these two are equally long, else one link. So every link of
// the list is few steps away.
type record struct {
	previous, jump uint32
	length         uint32 // of the list that ends here
}

// A large base is copied after as many changes as half its positions: so the copy costs 27 bytes
// per change. A small base takes relatively more changes, so that copies are as rare, but at most
// four per position, since an old state keeps everything alive that was changed after it.
const (
	fewChanges  = 64
	manyChanges = 512
	blockLen    = 63 // makes a block of 768 bytes: one weak pointer is cheap for it
)

func changesOf(positions int) int {
	return max(fewChanges, min(4*positions, manyChanges), positions/2)
}

// at returns the node at position i, or nil if there is none.
func at[C any](a *array[C], i uint32) *node[C] {
	if n := present(a, i); n != nil {
		return n
	}
	return replaced(a, i)
}

// present returns the node that the base has at position i, or nil if it has none or one newer than
// a. It has no calls, so that the compiler inlines it; look-ups by key use it for that.
func present[C any](a *array[C], i uint32) *node[C] {
	if s := a.base; s != nil && int(i) < len(s.nodes) {
		if n := s.nodes[i].Load(); n != nil && n.owner <= a.serial {
			return n
		}
	}
	return nil
}

// replaced returns the node at position i, or nil if there is none, where present returns nil.
func replaced[C any](a *array[C], i uint32) *node[C] {
	s := a.base
	if s == nil || int(i) >= len(s.nodes) {
		return nil
	}
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

// recordAt returns the record of the link of that number, which must have been filled; the zero
// record for 0.
func recordAt[C any](s *base[C], number uint32) record {
	if number == 0 {
		return record{}
	}
	return s.log[number/blockLen].records[number%blockLen]
}

// linkAt returns the link of a number, which must be one since a. It walks the chain from the first
// link of the block, or from a's own if that is later.
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

// own returns a node at position i that owner may change. If the node is new, old is the content to
// copy into it, or nil. spare points to a link that may be used if it isn't yet; it may be nil.
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

// drop removes the node at position i.
func drop[C any](a *array[C], owner uint64, i uint32, spare **link[C]) {
	put(a, room(a, owner, i, spare), owner, i, nil, spare)
}

func put[C any](a *array[C], s *base[C], owner uint64, i uint32, n *node[C], spare **link[C]) {
	at := &s.nodes[i]
	if s.owner != owner { // else no other state uses s
		old := at.Load()
		if s.filled == nil {
			empty := take(spare)
			empty.number = s.last.number + 1
			s.last.position, s.last.old = i, old
			s.last.next.Store(empty)
			s.filled, s.last = s.last, empty
		} else {
			// The Txn's links go before the empty one, so that the new state doesn't keep them
			// alive.
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

// note records in the log that l is the last link for position i.
func note[C any](s *base[C], i uint32, l *link[C]) {
	n := l.number
	if s.log[n/blockLen] == nil {
		b := new(block[C])
		if n >= blockLen { // no state begins before the first block, so it needs no pointer
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

// room returns a base that has position i and room for a change.
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

// moveOff is called when the open Txn leaves a's base for another one, or for none. The Txn's empty
// link must not stay at the end of the chain: it is part of the next state, so older states would
// keep all later states alive through it.
func moveOff[C any](a *array[C]) {
	if s := a.base; s != nil && s.filled != nil {
		s.last = &link[C]{number: s.filled.number + 1}
		s.filled.next.Store(s.last)
		s.filled = nil
	}
}

// take returns the link that spare points to the first time, and new links from then on.
func take[C any](spare **link[C]) *link[C] {
	if spare == nil || *spare == nil {
		return new(link[C])
	}
	l := *spare
	*spare = nil
	return l
}

// settle clears the fields that only an open Txn needs.
func settle[C any](a *array[C]) {
	if a.base != nil {
		a.base.filled = nil
	}
}

// revert restores the content of a, the newest published state, in its base, after changes that
// will never be published.
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
	// backwards, because the first change of a position has a's node
	for i := len(changes) - 1; i >= 0; i-- {
		a.base.nodes[changes[i].position].Store(changes[i].old)
	}
}
