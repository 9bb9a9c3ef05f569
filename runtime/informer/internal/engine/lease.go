// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
)

// ErrRunning is returned by Run while the informer is running.
var ErrRunning = errors.New("the informer is running already")

// errReleased is the cause with which a run ends if its last lease was released.
var errReleased = errors.New("the informer was released")

// Lease keeps an informer running.
type Lease struct {
	// set once at construction
	informer *Informer
	run      *run
	// closed when the lease has ended and, if it was the last one, the run too
	done chan struct{}

	// Informer.mu guards the rest.
	unwatch func() bool // stops watching the lease's context
	ended   bool
	cause   error // of the end
}

// Acquire implements informer.SharedIndexInformer.Acquire. The new run, if one is necessary, has
// the values of ctx and begins after the end of the last one.
func (i *Informer) Acquire(ctx context.Context) (*Lease, error) {
	fail := func(err error) (*Lease, error) {
		return nil, fmt.Errorf("informer %s: Acquire: %w", i.config.Name, err)
	}
	switch {
	case i.initErr != nil:
		return nil, i.initErr
	case ctx == nil:
		return fail(errors.New("the context is nil"))
	case ctx.Err() != nil:
		return fail(fmt.Errorf("the context is done: %w", context.Cause(ctx)))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.acquireLocked(ctx), nil
}

// Run acquires a lease, waits for its end, and returns context.Cause(ctx). It returns ErrRunning
// while the informer is running.
func (i *Informer) Run(ctx context.Context) error {
	switch {
	case i.initErr != nil:
		return i.initErr
	case ctx == nil:
		return errors.New("Run: the context is nil")
	}
	i.mu.Lock()
	if i.run != nil {
		i.mu.Unlock()
		return ErrRunning
	}
	if ctx.Err() != nil {
		i.mu.Unlock()
		return context.Cause(ctx)
	}
	l := i.acquireLocked(ctx)
	i.mu.Unlock()
	<-l.done
	return l.cause
}

func (i *Informer) acquireLocked(ctx context.Context) *Lease {
	r := i.run
	if r == nil || r.ctx.Err() != nil {
		r = i.startLocked(ctx, r)
	}
	l := &Lease{informer: i, run: r, done: make(chan struct{})}
	r.leases[l] = struct{}{}
	l.unwatch = context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })
	return l
}

// Done returns a channel that is closed when the lease has ended and, if it was the last one, the
// run too.
func (l *Lease) Done() <-chan struct{} { return l.done }

// HasSynced reports whether every stream has published a full state that was read in the lease's
// run.
func (l *Lease) HasSynced() bool { return outcome.Closed(l.run.synced) }

// Release implements informer.Lease.Release. Its error also names each checkpoint that waits for a
// disk.
func (l *Lease) Release(ctx context.Context) error {
	fail := func(err error) error {
		return fmt.Errorf("informer %s: Release: %w", l.informer.config.Name, err)
	}
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	l.end(errReleased)
	select {
	case <-l.done:
		return nil
	default:
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fail(fmt.Errorf("%w: %s", context.Cause(ctx), strings.Join(l.informer.Obstacles(), "; ")))
	}
}

func (l *Lease) end(cause error) {
	l.informer.mu.Lock()
	defer l.informer.mu.Unlock()
	l.endLocked(cause)
}

// endLocked ends the lease, unless it has ended. If it was the last lease, the run closes done.
func (l *Lease) endLocked(cause error) {
	if l.ended {
		return
	}
	l.ended, l.cause = true, cause
	l.unwatch()
	delete(l.run.leases, l)
	if len(l.run.leases) > 0 {
		close(l.done)
		return
	}
	l.run.lastLease = l
	l.run.cancel(cause)
}
