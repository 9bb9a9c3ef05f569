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
)

// ErrRunning is wrapped by the error of Run while the controller runs already, or still.
var ErrRunning = errors.New("it is running")

var errContext = errors.New("the context is nil")

// Controller calls a function with the keys that its watches queue. Make one with [New]. Any
// goroutine may call its methods at any time.
//
//	informer ─▶ handler ─ filters ─ keys ─▶ work queue ─▶ worker ─▶ Reconcile ─▶ your writes
//	                                          ▲  ▲  ▲                   │              │
//	                             Every, Enqueue  │  └── Result.After, ◀─┤              ▼
//	                                             │      errors          │          API server
//	                                             └── held until ◀───────┘ Result.Await  │
//	                                                 seen by the informer ◀─────────────┘
type Controller[K comparable] struct {
	// set once at construction
	name      string
	reconcile Reconcile[K]
	options   Options
	watches   []Watch[K]

	counts counts
	run    atomic.Pointer[run[K]] // the present one; nil if there is none

	mu          sync.Mutex // mu guards what follows
	running     bool       // Run was called and has not returned
	concurrency int
	early       map[K]struct{} // what Enqueue was given before Run
	unseen      []unseen       // the writes of the last run that were still awaited at its end
}

// New returns a controller. It starts nothing; [Controller.Run] does. The name stands in logs,
// errors, metrics and the informers' Status. Without watches, keys come from
// [Controller.Enqueue] only.
//
// The error names the argument that is wrong: the name is empty, reconcile is nil, a number or
// a duration is out of its range, a watch is the zero value or was made with a nil argument.
func New[K comparable](name string, reconcile Reconcile[K], options Options, watches ...Watch[K]) (*Controller[K], error) {
	if err := validate(name, reconcile == nil, &options); err != nil {
		return nil, fmt.Errorf("controller.New %q: %w", name, err)
	}
	for n, w := range watches {
		if w.err == nil && w.register == nil && w.every == nil {
			w.err = errors.New("it is the zero value; make it with Self, Owned, Mapped, Indexed or Every")
		}
		if w.err != nil {
			return nil, fmt.Errorf("controller.New %q: %w", name, w.wrong(n, w.err))
		}
	}
	return &Controller[K]{
		name: name, reconcile: reconcile, options: options, watches: slices.Clone(watches), concurrency: options.Concurrency,
	}, nil
}

// Name returns the name of the controller.
func (c *Controller[K]) Name() string { return c.name }

// Run starts the informers of the watches and of Options.Reads, unless they run already, waits
// until they have synced and the handlers of the watches have handled the initial objects, and then
// reconciles until ctx is done. The informers run on as long as others use them.
//
// Run returns after all its goroutines have ended, reconciles included, with context.Cause(ctx). If
// ctx was done before the first reconcile, or Options.SyncTimeout or Options.Sync have ended the
// wait, the error names the informer or handler that was not synced, and the reason. If the
// controller runs already, it wraps [ErrRunning]. A controller may run again: it begins with all
// objects.
func (c *Controller[K]) Run(ctx context.Context) error {
	fail := func(err error) error { return fmt.Errorf("controller %s: Run: %w", c.name, err) }
	if ctx == nil {
		return fail(errContext)
	}
	r, err := c.begin(ctx)
	if err != nil {
		return fail(err)
	}
	defer c.end()
	if provider := c.options.Metrics; provider != nil {
		defer provider.BeginController(c.name, c.state)()
	}
	if err := r.do(); err != nil {
		return fail(err)
	}
	return context.Cause(ctx)
}

func (c *Controller[K]) begin(ctx context.Context) (*run[K], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return nil, ErrRunning
	}
	c.running = true
	r := newRun(ctx, c)
	r.add(slices.Collect(maps.Keys(c.early)))
	c.early = nil
	c.run.Store(r)
	return r, nil
}

func (c *Controller[K]) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = false
	c.run.Store(nil)
}

// Enqueue queues keys, as an event would. While the controller does not run, it keeps them for the
// next run. Keys that come while Run returns may be lost.
func (c *Controller[K]) Enqueue(keys ...K) {
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
	if c.early == nil {
		c.early = map[K]struct{}{}
	}
	for _, key := range keys {
		c.early[key] = struct{}{}
	}
}

// SetConcurrency changes how many reconciles run at once, also while the controller runs. Those
// that run beyond a lower number end first. It returns an error if n is not positive.
func (c *Controller[K]) SetConcurrency(n int) error {
	if n < 1 {
		return fmt.Errorf("controller %s: SetConcurrency: %d; want 1 or more", c.name, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.concurrency = n
	if r := c.run.Load(); r != nil {
		r.pool.resize(n)
	}
	return nil
}
