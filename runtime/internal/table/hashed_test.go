// SPDX-License-Identifier: Apache-2.0

package table

import "testing"

// TestHashedShrinksBesideItsSnapshots takes entries out, each by another Txn, and looks at the
// state before every time that the number of buckets changes.
func TestHashedShrinksBesideItsSnapshots(t *testing.T) {
	r := newRand(t)
	var h hashed[Row]
	var hashes []uint32
	const buckets = 3000
	for h.count < buckets {
		hash := r.Uint32()
		hashes = append(hashes, hash)
		insert(&h, 1, hash, Row(len(hashes)))
	}
	settle(&h.buckets)
	checkHashed(t, &h)
	for owner := uint64(2); h.count > buckets-100; owner++ {
		before := h
		last := len(hashes) - 1
		remove(&h, owner, hashes[last], Row(last+1))
		settle(&h.buckets)
		hashes = hashes[:last]
		if h.n != len(hashes) {
			t.Fatalf("%d entries, want %d", h.n, len(hashes))
		}
		if h.count != before.count {
			checkHashed(t, &before)
			checkHashed(t, &h)
		}
	}
}
