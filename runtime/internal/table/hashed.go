// SPDX-License-Identifier: Apache-2.0

package table

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

var seed = maphash.MakeSeed()

// Hash returns the hash of a key: of an object.Key, or of a key of any index. It differs from
// process to process. Like a map, it panics on an interface value that can't be compared.
func Hash[K comparable](key K) uint32 { return uint32(maphash.Comparable(seed, key)) }

// bucketLoad is the mean number of entries in a bucket. bucketLen is the number of entries in one
// piece of a bucket, so that a bucket of Rows takes two cache lines, its owner's number included.
const (
	bucketLoad = 10
	bucketLen  = 13
)

// hashed is a persistent hash table by linear hashing: the number of buckets follows the number of
// entries one by one, so that no insertion ever rehashes more than one bucket. It has hashes and
// values, not keys: a look-up compares the keys of all entries that have the hash. Its zero value
// is empty; copying the struct takes a snapshot.
//
// To insert: 1. put the entry into its bucket. 2. if the buckets are too full on average, add the
// bucket number count, and move the entries to it that belong there by the next bit of their hash;
// they all come from one bucket, whose number is the new one without its highest bit.
type hashed[V comparable] struct {
	buckets array[bucket[V]]
	count   uint32 // of buckets
	n       int    // of entries
}

// bucket has entries in the order of their insertion, and unused ones after them. The value of an
// entry is the Row of an object, whose key it stands for, or the posting of an index key. The zero
// V marks an unused entry.
type bucket[V comparable] struct {
	hashes [bucketLen]uint32
	has    [bucketLen]V
	more   *bucket[V]                // never changed in place
	keys   atomic.Pointer[keyCopies] // only in the hash table of object keys
}

// bucketOf returns the bucket of a hash, or nil if it is empty.
func bucketOf[V comparable](h *hashed[V], hash uint32) *bucket[V] {
	return bucketAt(h, numberOf(h, hash))
}

func bucketAt[V comparable](h *hashed[V], i uint32) *bucket[V] {
	if n := at(&h.buckets, i); n != nil {
		return &n.c
	}
	return nil
}

// numberOf returns the number of the bucket of a hash. It is 0 in an empty table, which has no
// bucket 0.
func numberOf[V comparable](h *hashed[V], hash uint32) uint32 {
	// less than 32 bits, but the compiler can't know
	mask := uint32(1)<<(bits.Len32(h.count-1)%32) - 1
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

// replace replaces the value v of an entry with the hash by other.
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

// remove removes the entry with the hash and the value v.
func remove[V comparable](h *hashed[V], owner uint64, hash uint32, v V) {
	if h.n == 1 {
		moveOff(&h.buckets)
		*h = hashed[V]{}
		return
	}
	h.n--
	i := numberOf(h, hash)
	fill(h, owner, i, bucketAt(h, i), func(_ uint32, has V) bool { return has != v })
	// Shrink at half the load at which it grows, so that it doesn't alternate between both.
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

// assign copies the entries of from to b. They are about to change, so the copies of their keys are
// left out.
func assign[V comparable](b, from *bucket[V]) {
	b.hashes, b.has, b.more = from.hashes, from.has, from.more
}

// partner returns the bucket that bucket i splits off from.
func partner(i uint32) uint32 { return i &^ (1 << (bits.Len32(i) - 1)) }

// fill makes bucket i from the entries of from that belong there.
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

// add appends an entry to b, which the caller owns.
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
