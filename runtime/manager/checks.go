// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// The manager's own parts of /readyz. With a ring, ringCheck is also one of /healthz.
const (
	informersCheck   = "informers"
	controllersCheck = "controllers"
	ringCheck        = "ring"
)

// check is a check of Options.
type check struct {
	// set once at construction
	name string
	run  func(*http.Request) error

	mu    sync.Mutex // mu guards the fields below
	calls map[*call]bool
}

// call is a call of a check's function, on a goroutine of its own.
type call struct {
	// set once at construction
	ctx   context.Context // the request's
	since time.Time
	done  chan struct{}

	err error // set before done is closed
}

// newChecks returns checks in the order of their names.
func newChecks(byName map[string]func(*http.Request) error) (checks []*check) {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		checks = append(checks, &check{name: name, run: byName[name], calls: map[*call]bool{}})
	}
	return checks
}

func validateChecks(field string, checks map[string]func(*http.Request) error, controllers []Descriptor, own ...string) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: check %q: "+format, append([]any{field, name}, args...)...))
		}
		if checks[name] == nil {
			fail("the function is nil")
		}
		if !isName(name) {
			fail("invalid name; %s", nameRule)
		}
		if slices.Contains(own, name) {
			fail("the manager has a check of this name; choose another one")
		}
		if slices.ContainsFunc(controllers, func(d Descriptor) bool { return d.is(name) }) {
			fail("a controller has this name; choose another one")
		}
	}
	return errs
}

// start calls the function. wait returns its error, or one that says it has not returned when the
// request's context is done. No call begins while another one outlives its request.
func (c *check) start(req *http.Request) (wait func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for earlier := range c.calls {
		if earlier.ctx.Err() != nil {
			return func() error { return earlier.lateError() }
		}
	}
	now := &call{ctx: req.Context(), since: time.Now(), done: make(chan struct{}), err: errors.New("it has ended its goroutine")}
	c.calls[now] = true
	go func() {
		defer c.end(now)
		now.err = c.result(req)
	}()
	return func() error {
		select {
		case <-now.done:
			return now.err
		case <-now.ctx.Done():
		}
		select {
		case <-now.done:
			return now.err
		default:
			return now.lateError()
		}
	}
}

func (c *check) end(ended *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, ended)
	close(ended.done)
}

// result calls the function. A panic is an error.
func (c *check) result(req *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			klog.FromContext(req.Context()).Error(nil, "A check has panicked", "check", c.name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("it has panicked: %v", p)
		}
	}()
	return c.run(req)
}

func (c *call) lateError() error {
	return fmt.Errorf("it has not returned for %v: %w", time.Since(c.since).Round(time.Millisecond), context.Cause(c.ctx))
}

// awaitChecks waits for the calls of all checks until the manager's deadline. The error names those
// that have not returned.
func (m *Manager) awaitChecks() error {
	var errs []error
	for _, c := range slices.Concat(m.health, m.readiness) {
		c.mu.Lock()
		calls := slices.Collect(maps.Keys(c.calls))
		c.mu.Unlock()
		for _, running := range calls {
			select {
			case <-running.done:
			case <-m.deadline().Done():
				errs = append(errs, fmt.Errorf("check %s has not returned: %w", c.name, context.Cause(m.deadline())))
			}
		}
	}
	return errors.Join(errs...)
}
