// SPDX-License-Identifier: Apache-2.0

package table

import (
	"hash/maphash"
	"math/bits"
)

var seed = maphash.MakeSeed()

// Hash is the hash under which keys are filed: of object.Keys and of the keys of every index. It differs from process
// to process. Like a map, it panics on an interface value that can't be compared.
func Hash[K comparable](key K) uint32 { return uint32(maphash.Comparable(seed, key)) }

// bucketLoad is the mean number of entries in a bucket.
const bucketLoad = 8

// hashed is a persistent hash table by linear hashing: the number of buckets follows the number of entries one by one,
// so that no insertion ever rehashes more than one bucket. It knows hashes and what stands under them, not keys: whoever
// looks something up compares the keys of the entries that have the hash. Its zero value is empty; copying the struct
// takes a snapshot.
//
// To insert: 1. copy the bucket with the new entry at its end. 2. if the buckets are too full on average, add the bucket
// number count, and move those entries there that the hash's next bit sends there; they all come from one bucket, which
// is the number without its highest bit.
type hashed struct {
	pages tree[page] // count buckets, and empty ones up to the next full page
	count uint32     // of buckets
	n     int        // of entries
}

const (
	pageBits = 3
	pageLen  = 1 << pageBits
)

type page struct {
	owner   uint64
	buckets [pageLen][]entry // each of exact length, never changed in place
}

// entry stands for an object's key by its slot, or for an index's key by its posting.
type entry struct {
	hash    uint32
	slot    uint32
	posting *posting
}

// bucket returns the entries among which those with this hash are.
func (h *hashed) bucket(hash uint32) []entry {
	if h.n == 0 {
		return nil
	}
	return h.at(h.number(hash))
}

func (h *hashed) number(hash uint32) uint32 {
	mask := uint32(1)<<bits.Len32(h.count-1) - 1
	if i := hash & mask; i < h.count {
		return i
	}
	return hash & (mask >> 1)
}

// all yields every posting until yield returns false.
func (h *hashed) all(yield func(*posting) bool) {
	for i := range h.count {
		for _, e := range h.at(i) {
			if !yield(e.posting) {
				return
			}
		}
	}
}

func (h *hashed) insert(owner uint64, e entry) {
	if h.n == 0 {
		h.count = 1
		h.set(owner, 0, nil)
	}
	h.n++
	i := h.number(e.hash)
	old := h.at(i)
	entries := make([]entry, len(old)+1)
	copy(entries, old)
	entries[len(old)] = e
	h.set(owner, i, entries)
	if h.n > int(h.count)*bucketLoad {
		h.grow(owner)
	}
}

// replace gives the entry at position at of hash's bucket another posting.
func (h *hashed) replace(owner uint64, hash uint32, at int, p *posting) {
	i := h.number(hash)
	old := h.at(i)
	entries := make([]entry, len(old))
	copy(entries, old)
	entries[at].posting = p
	h.set(owner, i, entries)
}

// remove takes out the entry at position at of hash's bucket.
func (h *hashed) remove(owner uint64, hash uint32, at int) {
	if h.n == 1 {
		*h = hashed{}
		return
	}
	h.n--
	i := h.number(hash)
	old := h.at(i)
	var entries []entry
	if len(old) > 1 {
		entries = make([]entry, len(old)-1)
		copy(entries, old[:at])
		copy(entries[at:], old[at+1:])
	}
	h.set(owner, i, entries)
	// Shrink at half the load at which it grows, so that it doesn't do both in turns.
	if h.count > 1 && h.n < int(h.count-1)*(bucketLoad/2) {
		h.shrink(owner)
	}
}

func (h *hashed) grow(owner uint64) {
	last := h.count
	from := partner(last)
	entries := h.at(from)
	h.count++
	moving := 0
	for _, e := range entries {
		if h.number(e.hash) == last {
			moving++
		}
	}
	var stay, move []entry
	if moving > 0 {
		move = make([]entry, 0, moving)
	}
	if moving < len(entries) {
		stay = make([]entry, 0, len(entries)-moving)
	}
	for _, e := range entries {
		if h.number(e.hash) == last {
			move = append(move, e)
		} else {
			stay = append(stay, e)
		}
	}
	h.set(owner, from, stay)
	h.set(owner, last, move)
}

func (h *hashed) shrink(owner uint64) {
	h.count--
	last := h.count
	into := partner(last)
	move, stay := h.at(last), h.at(into)
	h.cut(owner)
	if len(move) == 0 {
		return
	}
	entries := make([]entry, len(stay)+len(move))
	copy(entries, stay)
	copy(entries[len(stay):], move)
	h.set(owner, into, entries)
}

// at returns bucket i, which must be there.
func (h *hashed) at(i uint32) []entry {
	return leafAt(&h.pages, i>>pageBits).buckets[i%pageLen]
}

// set sets bucket i, which is there or is the next one.
func (h *hashed) set(owner uint64, i uint32, entries []entry) {
	at := placeOf(&h.pages, owner, i>>pageBits)
	switch pg := *at; {
	case pg == nil:
		*at = &page{owner: owner}
	case pg.owner != owner:
		*at = &page{owner: owner, buckets: pg.buckets}
	}
	(*at).buckets[i%pageLen] = entries
}

// cut takes away the bucket number count, behind the last one.
func (h *hashed) cut(owner uint64) {
	if h.count%pageLen == 0 {
		dropLeaf(&h.pages, owner, h.count>>pageBits)
	} else {
		h.set(owner, h.count, nil)
	}
}

// partner returns the bucket that bucket i splits off from.
func partner(i uint32) uint32 { return i &^ (1 << (bits.Len32(i) - 1)) }
