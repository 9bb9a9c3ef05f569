// SPDX-License-Identifier: Apache-2.0

package table

import "testing"

// TestHashedShrinksBesideItsSnapshots takes entries out across the border between two of the root's forks, each by another Txn, and
// looks at the state before every time that the number of buckets changes.
func TestHashedShrinksBesideItsSnapshots(t *testing.T) {
	r := newRand(t)
	var h hashed
	var hashes []uint32
	const buckets = pageLen*fan*fan + 3*pageLen
	for h.count < buckets {
		hash := r.Uint32()
		hashes = append(hashes, hash)
		h.insert(1, entry{hash: hash, slot: uint32(len(hashes))})
	}
	checkHashed(t, &h)
	for owner := uint64(2); h.count > buckets-6*pageLen; owner++ {
		before := h
		hash := hashes[len(hashes)-1]
		hashes = hashes[:len(hashes)-1]
		for at, e := range h.bucket(hash) {
			if e.hash == hash {
				h.remove(owner, hash, at)
				break
			}
		}
		if h.n != len(hashes) {
			t.Fatalf("%d entries, want %d", h.n, len(hashes))
		}
		if h.count != before.count {
			checkHashed(t, &before)
			checkHashed(t, &h)
		}
	}
}
