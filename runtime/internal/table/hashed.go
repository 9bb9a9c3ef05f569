// SPDX-License-Identifier: Apache-2.0

package table

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

var seed = maphash.MakeSeed()

// Hash is the hash under which keys are filed: of object.Keys and of the keys of every index. It
// differs from process to process. Like a map, it panics on an interface value that can't be
// compared.
func Hash[K comparable](key K) uint32 { return uint32(maphash.Comparable(seed, key)) }

// bucketLoad is the mean number of entries in a bucket, bucketLen how many it has room for before
// it takes another piece. Then a bucket of places takes two cache lines, with the number of its
// owner.
const (
	bucketLoad = 10
	bucketLen  = 13
)

// hashed is a persistent hash table by linear hashing: the number of buckets follows the number of
// entries one by one, so that no insertion ever rehashes more than one bucket. It knows hashes and
// what stands under them, not keys: whoever looks something up compares the keys of the entries
// that have the hash. Its zero value is empty; copying the struct takes a snapshot.
//
// To insert: 1. put the entry into its bucket. 2. if the buckets are too full on average, add the
// bucket number count, and move those entries there that the hash's next bit sends there; they all
// come from one bucket, which is the number without its highest bit.
type hashed[V comparable] struct {
	buckets array[bucket[V]]
	count   uint32 // of buckets
	n       int    // of entries
}

// bucket has entries in the order of their insertion, the unused ones behind them. What an entry
// has stands for an object's key by its place, or for an index's key by its posting; the zero of V
// is an unused one.
type bucket[V comparable] struct {
	hashes [bucketLen]uint32
	has    [bucketLen]V
	more   *bucket[V]                // never changed in place
	keys   atomic.Pointer[keyCopies] // in a table's keys
}

// bucketOf returns the bucket with the entries that have the hash, and others; nil if it is empty.
func bucketOf[V comparable](h *hashed[V], hash uint32) *bucket[V] {
	if h.n == 0 {
		return nil
	}
	return bucketAt(h, numberOf(h, hash))
}

func bucketAt[V comparable](h *hashed[V], i uint32) *bucket[V] {
	if n := at(&h.buckets, i); n != nil {
		return &n.c
	}
	return nil
}

func numberOf[V comparable](h *hashed[V], hash uint32) uint32 {
	mask := uint32(1)<<bits.Len32(h.count-1) - 1
	if i := hash & mask; i < h.count {
		return i
	}
	return hash & (mask >> 1)
}

// entries yields every entry until yield returns false.
func entries[V comparable](h *hashed[V], yield func(V) bool) {
	var zero V
	each(&h.buckets, func(_ uint32, n *node[bucket[V]]) bool {
		for b := &n.c; b != nil; b = b.more {
			for _, v := range &b.has {
				if v != zero && !yield(v) {
					return false
				}
			}
		}
		return true
	})
}

func insert[V comparable](h *hashed[V], owner uint64, hash uint32, v V) {
	if h.n == 0 {
		h.count = 1
	}
	h.n++
	add(ownBucket(h, owner, numberOf(h, hash)), hash, v)
	if h.n > int(h.count)*bucketLoad {
		grow(h, owner)
	}
}

// replace gives hash's entry with v another one.
func replace[V comparable](h *hashed[V], owner uint64, hash uint32, v, other V) {
	b := ownBucket(h, owner, numberOf(h, hash))
	for {
		for i := range b.has {
			if b.has[i] == v {
				b.has[i] = other
				return
			}
		}
		b = ownMore(b)
	}
}

// remove takes out hash's entry with v.
func remove[V comparable](h *hashed[V], owner uint64, hash uint32, v V) {
	if h.n == 1 {
		moveOff(&h.buckets)
		*h = hashed[V]{}
		return
	}
	h.n--
	i := numberOf(h, hash)
	fill(h, owner, i, bucketAt(h, i), func(_ uint32, has V) bool { return has != v })
	// Shrink at half the load at which it grows, so that it doesn't do both in turns.
	if h.count > 1 && h.n < int(h.count-1)*(bucketLoad/2) {
		shrink(h, owner)
	}
}

func grow[V comparable](h *hashed[V], owner uint64) {
	last := h.count
	from := partner(last)
	old := bucketAt(h, from)
	h.count++
	fill(h, owner, last, old, func(hash uint32, _ V) bool { return numberOf(h, hash) == last })
	fill(h, owner, from, old, func(hash uint32, _ V) bool { return numberOf(h, hash) == from })
}

func shrink[V comparable](h *hashed[V], owner uint64) {
	h.count--
	last := bucketAt(h, h.count)
	if last == nil {
		return
	}
	into := ownBucket(h, owner, partner(h.count))
	var zero V
	for b := last; b != nil; b = b.more {
		for i, v := range &b.has {
			if v != zero {
				add(into, b.hashes[i], v)
			}
		}
	}
	drop(&h.buckets, owner, h.count, nil)
}

// ownBucket returns bucket i, to be changed.
func ownBucket[V comparable](h *hashed[V], owner uint64, i uint32) *bucket[V] {
	n, old := own(&h.buckets, owner, i, nil)
	if old != nil {
		assign(&n.c, old)
	}
	return &n.c
}

// assign gives b the entries of from, which are about to change. So b doesn't get the copies of
// their keys.
func assign[V comparable](b, from *bucket[V]) {
	b.hashes, b.has, b.more = from.hashes, from.has, from.more
}

// partner returns the bucket that bucket i splits off from.
func partner(i uint32) uint32 { return i &^ (1 << (bits.Len32(i) - 1)) }

// fill makes bucket i of those entries of from that belong there.
func fill[V comparable](h *hashed[V], owner uint64, i uint32, from *bucket[V], belongs func(hash uint32, v V) bool) {
	var zero V
	var filled bucket[V]
	for b := from; b != nil; b = b.more {
		for i, v := range &b.has {
			if v != zero && belongs(b.hashes[i], v) {
				add(&filled, b.hashes[i], v)
			}
		}
	}
	switch {
	case filled.has[0] != zero:
		assign(ownBucket(h, owner, i), &filled)
	case bucketAt(h, i) != nil:
		drop(&h.buckets, owner, i, nil)
	}
}

// add puts an entry behind those of b, which its caller owns.
func add[V comparable](b *bucket[V], hash uint32, v V) {
	var zero V
	for {
		for i := range b.has {
			if b.has[i] == zero {
				b.hashes[i], b.has[i] = hash, v
				return
			}
		}
		b = ownMore(b)
	}
}

// ownMore returns the next piece of b, to be changed: a copy, or a new one.
func ownMore[V comparable](b *bucket[V]) *bucket[V] {
	more := &bucket[V]{}
	if b.more != nil {
		assign(more, b.more)
	}
	b.more = more
	return more
}
