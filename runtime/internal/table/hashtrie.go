// SPDX-License-Identifier: Apache-2.0

package table

import (
	"hash/maphash"
	"slices"
)

var seed = maphash.MakeSeed()

// Hash returns the hash of an object.Key or an index key. It differs from process to process. Like
// a map, it panics on an interface value that can't be compared.
func Hash[K comparable](key K) uint32 { return uint32(maphash.Comparable(seed, key)) }

const (
	hashBits  = 4  // of the hash, to choose a node below a branch
	bucketMax = 32 // entries: a larger bucket becomes a branch, and a bucket again at half of it
)

// hashTrie stores values by their hashes: its branches follow the bits of a hash. It has no keys: a
// look-up gets a bucket, and compares the keys of all its values with the hash.
type hashTrie[V comparable] struct{ root *bucket[V] }

// bucket has entries, or is a branch. None is empty. A branch and its array are one allocation.
type bucket[V comparable] struct {
	owner    uint64 // number of the Txn that made it
	n        int    // entries in it or below
	entries  []hashEntry[V]
	children *[1 << hashBits]*bucket[V] // of a branch; nil where there are no entries
}

type hashEntry[V comparable] struct {
	hash uint32
	v    V
}

func (b *bucket[V]) len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// bucket returns the bucket of hash. Other hashes may share it.
func (h hashTrie[V]) bucket(hash uint32) []hashEntry[V] {
	b := h.root
	for rest := hash; b != nil && b.children != nil; rest >>= hashBits {
		b = b.children[rest%(1<<hashBits)]
	}
	if b == nil {
		return nil
	}
	return b.entries
}

func (h hashTrie[V]) all(yield func(V) bool) {
	if h.root != nil {
		h.root.all(yield)
	}
}

func (b *bucket[V]) all(yield func(V) bool) bool {
	for i := range b.entries {
		if !yield(b.entries[i].v) {
			return false
		}
	}
	if b.children == nil {
		return true
	}
	for _, child := range b.children {
		if child != nil && !child.all(yield) {
			return false
		}
	}
	return true
}

// add adds v, which must be absent.
func (h *hashTrie[V]) add(owner uint64, hash uint32, v V) {
	h.root = h.root.add(owner, hashEntry[V]{hash, v}, 0)
}

// remove removes v, which must be present.
func (h *hashTrie[V]) remove(owner uint64, hash uint32, v V) {
	h.root = h.root.remove(owner, hashEntry[V]{hash, v}, 0)
}

// add returns b, which may be nil, with e. The lowest bits of the hash have led to b.
func (b *bucket[V]) add(owner uint64, e hashEntry[V], bits int) *bucket[V] {
	b = b.own(owner)
	b.n++
	if b.children == nil && b.n > bucketMax && bits < 32 {
		entries := b.entries
		b = newBranch[V](owner, b.n)
		for _, e := range entries {
			at := b.at(e.hash, bits)
			*at = (*at).add(owner, e, bits+hashBits)
		}
	}
	if b.children == nil {
		b.entries = append(b.entries, e)
		return b
	}
	at := b.at(e.hash, bits)
	*at = (*at).add(owner, e, bits+hashBits)
	return b
}

// remove returns b without e, or nil if nothing is left.
func (b *bucket[V]) remove(owner uint64, e hashEntry[V], bits int) *bucket[V] {
	if b.n == 1 {
		return nil
	}
	b = b.own(owner)
	b.n--
	if b.children == nil {
		at := slices.Index(b.entries, e)
		b.entries = slices.Delete(b.entries, at, at+1)
		return b
	}
	at := b.at(e.hash, bits)
	*at = (*at).remove(owner, e, bits+hashBits)
	if b.n <= bucketMax/2 {
		var all []hashEntry[V]
		for _, child := range b.children {
			if child != nil {
				all = append(all, child.entries...)
			}
		}
		b.entries, b.children = all, nil
	}
	return b
}

func (b *bucket[V]) at(hash uint32, bits int) **bucket[V] {
	return &b.children[hash>>bits%(1<<hashBits)]
}

// own returns b if owner may change it, or a copy; an empty bucket if b is nil.
func (b *bucket[V]) own(owner uint64) *bucket[V] {
	switch {
	case b == nil:
		return &bucket[V]{owner: owner}
	case b.owner == owner:
		return b
	}
	if b.children != nil {
		own := newBranch[V](owner, b.n)
		*own.children = *b.children
		return own
	}
	return &bucket[V]{owner: owner, n: b.n, entries: append(make([]hashEntry[V], 0, len(b.entries)+1), b.entries...)}
}

func newBranch[V comparable](owner uint64, n int) *bucket[V] {
	b := &struct {
		bucket[V]
		room [1 << hashBits]*bucket[V]
	}{bucket: bucket[V]{owner: owner, n: n}}
	b.children = &b.room
	return &b.bucket
}
