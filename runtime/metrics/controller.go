// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"time"
)

// ControllerProvider receives the metrics of controllers and their queues. It serves any number of
// controllers, even several of one name.
type ControllerProvider interface {
	QueueProvider
	// BeginController is called when a run of a controller begins. read returns the controller's
	// state, and takes its locks briefly. The returned function must not be nil; it is called once,
	// when the run has ended.
	BeginController(name string, read func() ControllerState) (end func())
}

// ControllerState is the state of a controller.
type ControllerState struct {
	// Concurrency is the maximum number of concurrent reconciles, Active their present number.
	Concurrency, Active int
	// Awaiting is the number of keys held until the informers have seen their last reconcile's
	// writes.
	Awaiting int

	// Totals and Took start at 0 when the controller is made, count over all its runs, and never
	// decrease.
	Totals ReconcileTotals
	// Took has the durations of the reconciles.
	Took ReconcileDurations
}

// ReconcileDurations counts the durations of reconciles by size.
type ReconcileDurations struct {
	// Counts has the number of durations up to each of ReconcileBounds, above the previous bound;
	// the last entry counts those above the last bound.
	Counts [41]int64
	// Sum is the sum of all durations.
	Sum time.Duration
}

const ms = time.Millisecond

// reconcileBounds are the bounds of controller-runtime.
var reconcileBounds = [...]time.Duration{
	5 * ms, 10 * ms, 25 * ms, 50 * ms, 100 * ms, 150 * ms, 200 * ms, 250 * ms, 300 * ms, 350 * ms, 400 * ms, 450 * ms, 500 * ms,
	600 * ms, 700 * ms, 800 * ms, 900 * ms, 1000 * ms, 1250 * ms, 1500 * ms, 1750 * ms, 2000 * ms, 2500 * ms, 3000 * ms, 3500 * ms,
	4000 * ms, 4500 * ms, 5000 * ms, 6000 * ms, 7000 * ms, 8000 * ms, 9000 * ms, 10000 * ms, 15000 * ms, 20000 * ms, 25000 * ms,
	30000 * ms, 40000 * ms, 50000 * ms, 60000 * ms,
}

// ReconcileBounds returns the upper bounds of the buckets of [ReconcileDurations], in ascending
// order: those of controller-runtime.
func ReconcileBounds() []time.Duration { return slices.Clone(reconcileBounds[:]) }

// Add counts a duration.
func (d *ReconcileDurations) Add(took time.Duration) {
	at, _ := slices.BinarySearch(reconcileBounds[:], took)
	d.Counts[at]++
	d.Sum += took
}

// ReconcileTotals counts reconciles by result. Each is one of the first four.
type ReconcileTotals struct {
	// Succeeded counts reconciles with nothing left to do, Again those that asked for another call
	// after a time, Failed those with an error, and Terminal those with an error that is not
	// retried.
	Succeeded int64 `json:"succeeded"`
	Again     int64 `json:"again,omitempty"`
	Failed    int64 `json:"failed"`
	Terminal  int64 `json:"terminal,omitempty"`
	// Panics is the number of panics among the failures.
	Panics int64 `json:"panics,omitempty"`
	// Timeouts counts reconciles that returned after their deadline.
	Timeouts int64 `json:"timeouts,omitempty"`
	// Awaited counts reconciles whose key was then held until the informers had seen its writes.
	// Unseen counts the writes not seen in time.
	Awaited int64 `json:"awaited,omitempty"`
	Unseen  int64 `json:"unseen,omitempty"`
}
