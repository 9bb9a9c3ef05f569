// SPDX-License-Identifier: Apache-2.0

package shard

import "time"

// entry is a bucket in the table.
type entry struct {
	// Owner works on the bucket; "" while the bucket is free.
	Owner string
	// Epoch grows with each grant. An owner works at the Epoch of its grant only.
	Epoch uint64
	// Next loads the bucket, to own it after Owner; "" for none.
	Next string
	// Spare keeps the bucket loaded, to own it if Owner dies; "" for none.
	Spare string
	// Revoking tells Owner to release the bucket.
	Revoking bool
	// Since is the wall-clock time of the last grant or loss, in seconds, for people.
	Since int64
}

// table has the owners of all buckets. Each write is conditional on the version read before.
type table struct {
	version string // the Lease's resourceVersion; "" if it doesn't exist
	uid     string // the Lease's
	// generation grows with each write, so that an old view is recognised.
	generation uint64
	settings   string // By, Buckets and Roots, as text
	// duration is the longest LeaseDuration of any member that was granted something.
	duration time.Duration
	buckets  []entry
}

// memberState is the state of a member in its Lease. Nothing follows the last three.
type memberState string

const (
	joining memberState = "joining" // owns nothing yet
	active  memberState = "active"
	leaving memberState = "leaving" // gives up all it has
	left    memberState = "left"    // has shut its fence, and then written this
	// Another process has written these: expired, when LeaseDuration had passed since it saw the
	// last renewal; evicted, before, so the fence may be open for LeaseDuration.
	expired memberState = "expired"
	evicted memberState = "evicted"
)

// gone reports whether the member has lost its Lease, or given it up.
func (s memberState) gone() bool { return s == left || s == expired || s == evicted }

// lease is a member's Lease.
type lease struct {
	identity string
	version  string // resourceVersion; "" if it doesn't exist
	settings string // as in table
	state    memberState
	duration time.Duration
	weight   int
	// ready and released have, for each bucket, the highest epoch at which it is loaded, or was
	// released; 0 for none.
	ready, released []uint64
}

func epochOf(epochs []uint64, bucket int) uint64 {
	if bucket < len(epochs) {
		return epochs[bucket]
	}
	return 0
}
