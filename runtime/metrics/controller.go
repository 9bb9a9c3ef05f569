// SPDX-License-Identifier: Apache-2.0

package metrics

// ControllerProvider receives the metrics of controllers and their queues. It serves any number of
// controllers, even several of one name. The duration of reconciles is a metric of the queue: the
// time keys are worked on.
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

	// Totals start at 0 when the controller is made, count over all its runs, and never decrease.
	Totals ReconcileTotals
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
