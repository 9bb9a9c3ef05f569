// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math"

	"github.com/informer-gen/informer-gen/internal/btree"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// entry is the number of a name, and in the low half the slot of an object that has its key.
type entry uint64

func entryOf(number, slot uint32) entry { return entry(number)<<32 | entry(slot) }

// Key implements [btree.Entry].
func (e entry) Key() uint64 { return uint64(e) }

func (e entry) number() uint32 { return uint32(e >> 32) }

func (e entry) slot() uint32 { return uint32(e) }

type entries = btree.Tree[uint64, entry]

// index has the keys of the objects, each under a number, and the slots of the objects that have a
// key under that number. Copying the struct takes a snapshot.
type index struct {
	id      *ID
	def     Index // used by the writer
	names   hashed[*name]
	entries entries
	last    uint32 // number that a name got
}

// name is a key of an index, and its number.
type name struct {
	number uint32
	key    any // a copy, which keeps nothing of an object alive
}

// name returns the name with a hash for whose key is returns true, or nil if no object has it.
func (x *index) name(hash uint32, is func(key any) bool) *name {
	for _, e := range x.names.bucket(hash) {
		if e.hash == hash && is(e.v.key) {
			return e.v
		}
	}
	return nil
}

// enter records that the object in slot has a key.
func (x *index) enter(owner uint64, ch change, slot uint32) {
	n := x.name(ch.hash, func(key any) bool { return key == ch.key })
	if n == nil {
		for x.last++; has(x.entries, x.last); x.last++ { // in use, after four billion names
		}
		n = &name{x.last, detached(ch.key)}
		x.names.add(owner, ch.hash, n)
	}
	x.entries.Set(owner, entryOf(n.number, slot))
}

// leave records that the object in slot has lost a key.
func (x *index) leave(owner uint64, ch change, slot uint32) {
	n := x.name(ch.hash, func(key any) bool { return key == ch.key })
	if n == nil {
		return
	}
	x.entries.Delete(owner, uint64(entryOf(n.number, slot)))
	if !has(x.entries, n.number) {
		x.names.remove(owner, ch.hash, n)
	}
}

// each yields the slots that have a number, ascending, until yield returns false.
func each(of entries, number uint32, yield func(slot uint32) bool) {
	of.From(uint64(entryOf(number, 0)), func(e entry) bool { return e.number() == number && yield(e.slot()) })
}

// has reports whether any slot has a number.
func has(of entries, number uint32) (found bool) {
	each(of, number, func(uint32) bool { found = true; return false })
	return found
}

// count returns how many slots have a number.
func count(of entries, number uint32) int {
	return of.Rank(uint64(entryOf(number, math.MaxUint32))) - of.Rank(uint64(entryOf(number, 0)))
}

// byNamespace is the index of namespaces, the first one of every table.
type byNamespace struct{}

var namespaceID = ID{Name: "namespace"}

// ID implements [Index].
func (byNamespace) ID() *ID { return &namespaceID }

// Check implements [Index].
func (byNamespace) Check() error { return nil }

// Changes implements [Index].
func (byNamespace) Changes(old, obj object.Object, c *Changes) {
	switch {
	case old != nil && obj != nil: // they have the same key
	case old != nil && old.GetNamespace() != "":
		c.Leave(Hash(old.GetNamespace()), old.GetNamespace())
	case obj != nil && obj.GetNamespace() != "":
		c.Enter(Hash(obj.GetNamespace()), obj.GetNamespace())
	}
}
