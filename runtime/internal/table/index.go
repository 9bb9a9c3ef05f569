// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math"

	"github.com/informer-gen/informer-gen/internal/btree"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// entry has the number of a key in its high half, and in the low half the slot of an object with
// this key.
type entry uint64

func entryOf(number, slot uint32) entry { return entry(number)<<32 | entry(slot) }

// Key implements [btree.Entry].
func (e entry) Key() uint64 { return uint64(e) }

func (e entry) number() uint32 { return uint32(e >> 32) }

func (e entry) slot() uint32 { return uint32(e) }

type entries = btree.Tree[uint64, entry]

// index numbers the objects' keys, and has an entry for each number and each slot of an object with
// that key.
type index struct {
	id         *ID
	def        Index // used by the writer
	keys       hashTrie[*indexKey]
	entries    entries
	lastNumber uint32 // the last number given to a key
}

type indexKey struct {
	number uint32
	key    any // a copy
}

// find returns the indexKey of a key, given its hash and a comparison, or nil if no object has it.
func (x *index) find(hash uint32, equal func(key any) bool) *indexKey {
	for _, e := range x.keys.bucket(hash) {
		if e.hash == hash && equal(e.v.key) {
			return e.v
		}
	}
	return nil
}

func (x *index) enter(owner uint64, ch change, slot uint32) {
	n := x.find(ch.hash, func(key any) bool { return key == ch.key })
	if n == nil {
		for x.lastNumber++; has(x.entries, x.lastNumber); x.lastNumber++ {
			// The number is in use, after four billion keys.
		}
		n = &indexKey{x.lastNumber, cloneKey(ch.key)}
		x.keys.add(owner, ch.hash, n)
	}
	x.entries.Set(owner, entryOf(n.number, slot))
}

func (x *index) leave(owner uint64, ch change, slot uint32) {
	n := x.find(ch.hash, func(key any) bool { return key == ch.key })
	if n == nil {
		return
	}
	x.entries.Delete(owner, uint64(entryOf(n.number, slot)))
	if !has(x.entries, n.number) {
		x.keys.remove(owner, ch.hash, n)
	}
}

// each yields the slots of a number, ascending.
func each(of entries, number uint32, yield func(slot uint32) bool) {
	of.From(uint64(entryOf(number, 0)), func(e entry) bool { return e.number() == number && yield(e.slot()) })
}

func has(of entries, number uint32) (found bool) {
	each(of, number, func(uint32) bool { found = true; return false })
	return found
}

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
