// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"iter"
	"math/bits"
)

// Set is an immutable set of buckets. The zero value is empty.
type Set struct{ words string } // comparable; eight buckets a byte

// SetOf returns the set of the buckets below n with has(bucket).
func SetOf(n int, has func(bucket int) bool) Set {
	words, used := make([]byte, (n+7)/8), 0
	for b := range n {
		if has(b) {
			words[b/8] |= 1 << (b % 8)
			used = b/8 + 1
		}
	}
	return Set{string(words[:used])}
}

// Has reports whether a bucket is in the set.
func (s Set) Has(bucket int) bool {
	return bucket >= 0 && bucket/8 < len(s.words) && s.words[bucket/8]&(1<<(bucket%8)) != 0
}

// IsEmpty reports whether the set has no bucket.
func (s Set) IsEmpty() bool { return s.words == "" }

// Len returns the number of buckets.
func (s Set) Len() (n int) {
	for i := range len(s.words) {
		n += bits.OnesCount8(s.words[i])
	}
	return n
}

// All yields the buckets in order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for b := range 8 * len(s.words) {
			if s.Has(b) && !yield(b) {
				return
			}
		}
	}
}

// Without returns the buckets of s outside other.
func (s Set) Without(other Set) Set {
	return SetOf(8*len(s.words), func(b int) bool { return s.Has(b) && !other.Has(b) })
}

// And returns the buckets in both s and other.
func (s Set) And(other Set) Set {
	return SetOf(8*len(s.words), func(b int) bool { return s.Has(b) && other.Has(b) })
}

// Or returns the buckets in s or in other.
func (s Set) Or(other Set) Set {
	return SetOf(8*max(len(s.words), len(other.words)), func(b int) bool { return s.Has(b) || other.Has(b) })
}

// Contains reports whether s has all buckets of other.
func (s Set) Contains(other Set) bool { return other.Without(s).IsEmpty() }
