// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// RingProvider receives the metrics of rings, which divide work over processes. It serves any
// number of rings.
type RingProvider interface {
	// BeginRing is called when this process begins to take part in a ring. read returns the ring's
	// state, and takes its locks briefly. The returned function must not be nil; it is called once,
	// when the process takes part no longer.
	BeginRing(name string, read func() RingState) (end func())
}

// RingState is the state of a ring, as this process sees it.
type RingState struct {
	// Active reports whether this process may be granted buckets. Coordinator reports whether it
	// plans who gets which.
	Active, Coordinator bool
	// Members is the number of processes that take part, Owned the number of buckets on which this
	// process works.
	Members, Owned int
	// Unowned is how long this process has seen nobody work on a bucket: the longest time of any
	// bucket, or 0.
	Unowned time.Duration

	// The totals below start at 0 when the ring is made and never decrease.

	// Granted and Released count the buckets that this process was granted and has released,
	// Evicted those that it lost without releasing them.
	Granted, Released, Evicted int64
	// Unclaimed counts requests that belong to no reconcile, so that only the process's lease
	// guards them.
	Unclaimed int64
}
