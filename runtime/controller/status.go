// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Status is the state of a controller. Times are in UTC. JSON has keys as text, and omits
// uninformative zero values.
type Status struct {
	// Name is the controller's name.
	Name string `json:"name"`
	// Running reports whether Run was called and has not returned.
	Running bool `json:"running"`
	// Synced reports whether this run has begun to reconcile.
	Synced bool `json:"synced"`
	// Missing has a line for each informer and handler Run still waits for, with the reason.
	Missing []string `json:"missing,omitempty"`
	// Handlers are the handlers of the watches, while the controller runs.
	Handlers []informer.HandlerStatus `json:"handlers,omitempty"`
	// Concurrency is the maximum number of concurrent reconciles. Active is their present number.
	Concurrency int `json:"concurrency"`
	Active      int `json:"active"`
	// Awaiting has a line for each key held until the informers have seen its last reconcile's
	// writes, with these writes and the time it has waited, sorted by key.
	Awaiting []string `json:"awaiting,omitempty"`
	// Queue is the state of the work queue.
	Queue workqueue.Status[object.Key] `json:"queue"`
	// Totals counts the reconciles of all runs.
	Totals metrics.ReconcileTotals `json:"totals"`
	// LastMinute counts the reconciles of about the last minute.
	LastMinute Recent `json:"lastMinute"`
	// LastError is the error of the last failed reconcile, or "". LastErrorKey is its key, and
	// LastErrorTime the time it returned. A text of more than 2,000 bytes is cut.
	LastError     string    `json:"lastError,omitempty"`
	LastErrorKey  string    `json:"lastErrorKey,omitempty"`
	LastErrorTime time.Time `json:"lastErrorTime,omitzero"`
	// Failing are the keys whose last reconcile in this run failed, also if they are not retried:
	// at most 100, those with most failures first. The controller remembers at most 1,000 of them.
	Failing []KeyStatus `json:"failing,omitempty"`
	// RunError says why the last Run failed before its context was done, or is "".
	RunError string `json:"runError,omitempty"`
}

// Recent counts the reconciles of a short time: all that have ended, and those with an error.
type Recent struct {
	Ended  int `json:"ended"`
	Failed int `json:"failed"`
}

// KeyStatus is the state of a key. A key that is not in the queue has only Key and the error.
type KeyStatus struct {
	workqueue.KeyStatus[object.Key]
	// Error is the error of the key's last reconcile in this run, or "". ErrorTime is the time it
	// returned. Of many failing keys, some have no Error; see Status.Failing.
	Error     string    `json:"error,omitempty"`
	ErrorTime time.Time `json:"errorTime,omitzero"`
}

// Status returns the controller's state.
func (c *Controller) Status() Status {
	s := Status{Name: c.name, Totals: c.counts.totals(), Active: int(c.counts.active.Load())}
	c.outcomes.addTo(&s)
	c.mu.Lock()
	s.Running, s.Concurrency, s.RunError = c.running, c.options.Concurrency, c.runError
	c.mu.Unlock()
	r := c.run.Load()
	if r == nil {
		return s
	}
	s.Queue, s.Awaiting, s.Failing = r.queue.Status(), r.tracker.describe(), r.failingKeys()
	for _, registration := range r.handlers() {
		s.Handlers = append(s.Handlers, registration.Status())
	}
	if s.Synced = r.hasSynced(); !s.Synced {
		s.Missing = r.missing(s.Handlers)
	}
	return s
}

// StatusOf returns the state of a key. The second result reports whether the queue knows it.
func (c *Controller) StatusOf(key object.Key) (KeyStatus, bool) {
	r := c.run.Load()
	if r == nil {
		return KeyStatus{}, false
	}
	s := c.outcomes.describe(key)
	where, known := r.queue.StatusOf(key)
	if known {
		s.KeyStatus = where
	}
	return s, known
}

func (r *run) missing(handlers []informer.HandlerStatus) (lines []string) {
	leases := r.heldLeases()
	for n, i := range r.informers {
		if n >= len(leases) || !leases[n].HasSynced() {
			lines = append(lines, "informer "+i.Status().String())
		}
	}
	for _, h := range handlers {
		if !h.Synced {
			lines = append(lines, h.String())
		}
	}
	return lines
}

func (c *Controller) state() metrics.ControllerState {
	s := metrics.ControllerState{Active: int(c.counts.active.Load()), Concurrency: c.options.Concurrency, Totals: c.counts.totals(), Took: c.counts.durations()}
	if r := c.run.Load(); r != nil {
		s.Awaiting = int(r.tracker.len.Load())
	}
	return s
}

type counts struct {
	active                             atomic.Int64
	succeeded, again, failed, terminal atomic.Int64
	panics, timeouts, awaited, unseen  atomic.Int64

	mu   sync.Mutex // mu guards took
	took metrics.ReconcileDurations
}

func (c *counts) addDuration(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took.Add(took)
}

func (c *counts) durations() metrics.ReconcileDurations {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.took
}

func (c *counts) totals() metrics.ReconcileTotals {
	return metrics.ReconcileTotals{
		Succeeded: c.succeeded.Load(), Again: c.again.Load(), Failed: c.failed.Load(), Terminal: c.terminal.Load(),
		Panics: c.panics.Load(), Timeouts: c.timeouts.Load(), Awaited: c.awaited.Load(), Unseen: c.unseen.Load(),
	}
}
