// SPDX-License-Identifier: Apache-2.0

package metrics

// ControllerProvider gets the metrics of controllers and of their queues. One ControllerProvider
// serves any number of controllers, also several of the same name. How long reconciles take is
// among the metrics of the queue, as the time that keys are worked on.
type ControllerProvider interface {
	QueueProvider
	// BeginController is called when a run of a controller begins. read returns the state of the
	// controller, and takes its locks for a moment. The function that BeginController returns must
	// not be nil; it is called once, when the run has ended.
	BeginController(name string, read func() ControllerState) (end func())
}

// ControllerState is the state of a controller.
type ControllerState struct {
	// Concurrency is how many reconciles may run at once, Active how many do.
	Concurrency, Active int
	// Awaiting is how many keys are held back until the informers have seen what their last
	// reconcile has written.
	Awaiting int

	// Totals begin at 0 when the controller is made, count over all its runs, and never go down.
	Totals ReconcileTotals
}

// ReconcileTotals counts reconciles by what has come of them. Each is one of the first four.
type ReconcileTotals struct {
	// Succeeded is how many had nothing left to do, Again how many asked to be called again after a
	// time, Failed how many returned an error, and Terminal how many returned one for which they
	// are not called again.
	Succeeded int64 `json:"succeeded"`
	Again     int64 `json:"again,omitempty"`
	Failed    int64 `json:"failed"`
	Terminal  int64 `json:"terminal,omitempty"`
	// Panics is how many of those that failed have panicked.
	Panics int64 `json:"panics,omitempty"`
	// Timeouts is how many have returned after their deadline.
	Timeouts int64 `json:"timeouts,omitempty"`
	// Awaited is after how many reconciles the key was held back until the informers have seen what
	// was written. Unseen is how many of these writes they have not seen in time.
	Awaited int64 `json:"awaited,omitempty"`
	Unseen  int64 `json:"unseen,omitempty"`
}
