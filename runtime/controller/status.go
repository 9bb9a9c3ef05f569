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
	// LastError is the error of the last failed reconcile, or "". LastErrorKey is its key, and
	// LastErrorTime the time it returned.
	LastError     string    `json:"lastError,omitempty"`
	LastErrorKey  string    `json:"lastErrorKey,omitempty"`
	LastErrorTime time.Time `json:"lastErrorTime,omitzero"`
}

// Status returns the controller's state.
func (c *Controller) Status() Status {
	s := Status{Name: c.name, Totals: c.counts.totals(), Active: int(c.counts.active.Load())}
	s.LastError, s.LastErrorKey, s.LastErrorTime = c.counts.lastError()
	c.mu.Lock()
	s.Running, s.Concurrency = c.running, c.options.Concurrency
	c.mu.Unlock()
	r := c.run.Load()
	if r == nil {
		return s
	}
	s.Queue, s.Awaiting = r.queue.Status(), r.tracker.describe()
	for _, registration := range r.handlers() {
		s.Handlers = append(s.Handlers, registration.Status())
	}
	if s.Synced = r.hasSynced(); !s.Synced {
		s.Missing = r.missing(s.Handlers)
	}
	return s
}

// StatusOf returns the state of a key. The second result reports whether the queue knows it.
func (c *Controller) StatusOf(key object.Key) (workqueue.KeyStatus[object.Key], bool) {
	if r := c.run.Load(); r != nil {
		return r.queue.StatusOf(key)
	}
	return workqueue.KeyStatus[object.Key]{}, false
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

	mu   sync.Mutex // mu guards the fields below
	key  string
	text string
	at   time.Time
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

func (c *counts) setLastError(key string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key, c.text, c.at = key, err.Error(), time.Now()
}

func (c *counts) lastError() (text, key string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text, c.key, c.at.UTC()
}
