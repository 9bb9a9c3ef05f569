// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

var (
	errRunning = errors.New("it is running already; wait until Run has returned")
	errContext = errors.New("the context is nil")
)

// Controller calls a function with the keys queued by its watches. Make one with [New]. Any
// goroutine may call its methods at any time.
//
//	informer ─▶ handler ─ filters ─ keys ─▶ work queue ─▶ worker ─▶ Reconcile ─▶ your writes
//	                                          ▲  ▲  ▲                   │              │
//	                             Every, Enqueue  │  └── RequeueAfter, ◀─┤              ▼
//	                                             │      errors          │          API server
//	                                             └── held until ◀───────┘ Wrote         │
//	                                                 seen by the informer ◀─────────────┘
type Controller struct {
	// set once at construction
	name      string
	reconcile Reconcile
	options   Options
	watches   []Watch
	kind      *kind // from For; nil without it

	counts   counts
	outcomes outcomes
	run      atomic.Pointer[run] // the current run, or nil

	mu           sync.Mutex              // mu guards the fields below
	running      bool                    // Run was called and has not returned
	runError     string                  // why the last run failed, unless its context was done
	pendingKeys  map[object.Key]struct{} // of Enqueue before Run
	unseenWrites []unseenWrite           // when the last run ended
}

// New returns a controller, and starts nothing: see [Controller.Run]. The name appears in logs,
// errors, metrics and the informers' Status. Without watches, keys come only from
// [Controller.Enqueue].
//
// The error names the invalid argument: an empty name, a nil reconcile, a number or duration out of
// range, a watch that is the zero value or has a nil argument, or a nil option.
func New(name string, reconcile Reconcile, options ...Option) (*Controller, error) {
	var p plan
	err := p.apply(options)
	if err == nil {
		err = p.resolve()
	}
	return newController(name, reconcile, &p, err)
}

// An invalid argument takes precedence over err.
func newController(name string, reconcile Reconcile, p *plan, err error) (*Controller, error) {
	if wrong := validate(name, reconcile == nil, &p.options); wrong != nil {
		err = wrong
	}
	if err == nil {
		err = validateRing(p.options.Ring, p.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("controller.New %q: %w", name, err)
	}
	return &Controller{name: name, reconcile: reconcile, options: p.options.withMetrics(p.watches), watches: p.watches, kind: p.kind}, nil
}

// Name returns the controller's name.
func (c *Controller) Name() string { return c.name }

// Ring returns Options.Ring: nil means that the controller reconciles all keys.
func (c *Controller) Ring() Ring { return c.options.Ring }

// Run starts the informers of the watches and of Options.Reads, unless they already run. It waits
// until they have synced and its handlers have handled the initial objects, and then reconciles
// until ctx is done. The informers run on as long as others use them.
//
// Run returns context.Cause(ctx) after all its goroutines, reconciles included, have ended. If ctx
// was done before the first reconcile, or Options.SyncTimeout or Options.Sync ended the wait, the
// error names the unsynced informer or handler, and the reason. Run also fails if the controller
// already runs. It may be called again later.
func (c *Controller) Run(ctx context.Context) error {
	fail := func(err error) error { return fmt.Errorf("controller %s: Run: %w", c.name, err) }
	if ctx == nil {
		return fail(errContext)
	}
	r, err := c.begin(ctx)
	if err != nil {
		return fail(err)
	}
	defer func() { c.end(ctx, err) }()
	if provider := c.options.Metrics; provider != nil {
		defer provider.BeginController(c.name, c.state)()
	}
	if err = r.do(); err != nil {
		return fail(err)
	}
	return context.Cause(ctx)
}

func (c *Controller) begin(ctx context.Context) (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return nil, errRunning
	}
	r := newRun(ctx, c)
	r.add(slices.Collect(maps.Keys(c.pendingKeys))) // may panic in Options.Tenant
	c.running, c.pendingKeys, c.runError = true, nil, ""
	c.outcomes.begin()
	c.run.Store(r)
	return r, nil
}

func (c *Controller) end(ctx context.Context, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = false
	if err != nil && ctx.Err() == nil {
		c.runError = shortened(err.Error())
	}
	c.run.Store(nil)
}

// Enqueue queues keys as an event would. A controller that doesn't run keeps them for its next run.
// Keys that arrive while Run returns may be lost. With Options.Ring, a run drops those of buckets
// that other replicas have.
func (c *Controller) Enqueue(keys ...object.Key) {
	if r := c.run.Load(); r != nil {
		r.add(keys)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.run.Load(); r != nil { // since a moment ago
		r.add(keys)
		return
	}
	if c.pendingKeys == nil {
		c.pendingKeys = map[object.Key]struct{}{}
	}
	for _, key := range keys {
		c.pendingKeys[key] = struct{}{}
	}
}
