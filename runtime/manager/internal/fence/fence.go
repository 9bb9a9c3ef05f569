// SPDX-License-Identifier: Apache-2.0

// Package fence lets requests leave the process only during a term, and cuts them off at its end.
// Packages election and shard say when a term begins and ends.
package fence

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Fence lets requests pass during a term. Make one with [New]. Any goroutine may call its methods;
// they wait for nothing.
type Fence struct {
	// set once at construction
	closed, expired error

	current atomic.Pointer[Term] // the current or last term; nil before the first
}

// New returns a fence without a term. Requests fail with closed before a term, and with expired
// after one that was not extended in time. Both should wrap one error, which users look for.
func New(closed, expired error) *Fence { return &Fence{closed: closed, expired: expired} }

// Begin prepares a term, which replaces the last one. The first Extend opens it. The term ends with
// parent.
func (f *Fence) Begin(parent context.Context) *Term {
	t := &Term{fence: f}
	t.ctx, t.end = context.WithCancelCause(parent)
	f.current.Store(t)
	return t
}

// Current returns the current or last term, nil before the first, and why it is not open.
func (f *Fence) Current() (*Term, error) {
	t := f.current.Load()
	if t == nil {
		return nil, f.closed
	}
	return t, t.Err()
}

// Wrap returns a copy of config whose clients send requests only during a term. Each client has
// connections of its own, made by config.Dial if that is set. They send bytes only in the term in
// which they were made, and are closed at its end. A config with its own Transport keeps it.
func (f *Fence) Wrap(config *rest.Config) *rest.Config { return f.wrap(config, nil) }

func (f *Fence) wrap(config *rest.Config, gate *Gate) *rest.Config {
	config = rest.CopyConfig(config)
	config.Dial = f.dial(config.Dial)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{f, gate, next} })
	return config
}

// JumpWallClock sets the wall clock forward, or back, as far as the current term can see. It is for
// tests.
func (f *Fence) JumpWallClock(d time.Duration) {
	if t := f.current.Load(); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.wall = t.wall.Add(-d)
	}
}

// Window is the time for requests to leave, by one clock. It is the rule of a [Term], apart
// from the lock and the timer, so that package shard can test it in all its states.
type Window struct {
	// Until is the end unless it is extended; zero before the first Extend.
	Until time.Time
}

// Extend opens the window, or keeps it open, for a duration after the sending of a successful
// renewal. It does nothing after the end: in between, another process may have begun.
func (w *Window) Extend(sent time.Time, open time.Duration, now time.Time) {
	if until := sent.Add(open); (w.Until.IsZero() || w.IsOpen(now)) && until.After(w.Until) {
		w.Until = until
	}
}

// IsOpen reports whether requests may leave.
func (w *Window) IsOpen(now time.Time) bool { return now.Before(w.Until) }

// Term is a time in which requests pass: from the first Extend until the last one is too old, or
// the term is closed. A term never resumes; see [Window].
type Term struct {
	// set once at construction
	fence *Fence
	ctx   context.Context
	end   context.CancelCauseFunc

	mu     sync.Mutex // mu guards the fields below
	window Window
	wall   time.Time   // end of window, by the wall clock alone
	timer  *time.Timer // ends the term with window
}

// Context is done at the end of the term or a moment later. Its cause says why.
func (t *Term) Context() context.Context { return t.ctx }

// Extend opens the term, or keeps it open, for a duration after the sending of a successful
// renewal. It does nothing after the end of the term.
func (t *Term) Extend(sent time.Time, open time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.window.Until.IsZero() && t.errLocked() != nil {
		t.end(t.fence.expired) // the timer is late
		return
	}
	t.window.Extend(sent, open, time.Now())
	t.wall = t.window.Until.Round(0)
	left := time.Until(t.window.Until)
	if t.timer == nil {
		t.timer = time.AfterFunc(left, func() { t.end(t.fence.expired) })
		return
	}
	t.timer.Reset(left)
}

// Until returns the end of the term unless it is extended or closed; zero before the first Extend.
func (t *Term) Until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.window.Until
}

// Close ends the term. cause is the error of requests from now on, unless the term has ended by
// itself.
func (t *Term) Close(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.errLocked() == t.fence.expired {
		cause = t.fence.expired // the timer is late
	}
	t.end(cause)
	if t.timer != nil {
		t.timer.Stop()
	}
}

// Err returns why nothing may be sent, or nil.
func (t *Term) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.errLocked()
}

// errLocked also looks at the clock, because the timer of a stopped process is late, and at the
// wall clock, because the monotonic one stands still while a machine is suspended.
func (t *Term) errLocked() error {
	switch {
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	case t.window.Until.IsZero():
		return t.fence.closed
	}
	if now := time.Now(); !t.window.IsOpen(now) || !now.Round(0).Before(t.wall) {
		return t.fence.expired
	}
	return nil
}
