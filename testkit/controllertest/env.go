// SPDX-License-Identifier: Apache-2.0

package controllertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/testr"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

const (
	// patience is how long Settle waits, by the bubble's clock: long enough for a key to be retried
	// after ten failures in a row.
	patience = 10 * time.Minute
	tick     = 100 * time.Millisecond
)

var errStopped = errors.New("the test has stopped the controllers")

// Env is an API server in memory, and the controllers a test runs against it. Its methods must be
// called on the test's goroutine.
type Env struct {
	// Server is the API server, with all kinds of patches. The test adds resources to it.
	Server *sourcetest.Server
	// Client reads from Server and writes to it.
	Client *source.Client

	t       *testing.T
	running []*running
}

type running struct {
	*controller.Controller
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when Run has returned, with err
	err    error
}

// Run calls test in a bubble of testing/synctest, with an environment of its own. After test has
// returned, it stops the controllers and waits for every goroutine of the bubble. The controllers
// log to the test's log.
func Run(t *testing.T, test func(t *testing.T, env *Env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		env := &Env{Server: sourcetest.New(), t: t}
		env.Server.Patches = patches.All{}
		var err error
		if env.Client, err = source.NewClient(env.Server.Config()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(env.Stop)
		test(t, env)
	})
}

// Start runs controllers until Stop is called, or the test ends. A controller may be started again
// after Stop.
func (e *Env) Start(controllers ...*controller.Controller) {
	for _, c := range controllers {
		ctx, cancel := context.WithCancelCause(klog.NewContext(context.WithoutCancel(e.t.Context()), testr.New(e.t)))
		r := &running{Controller: c, cancel: cancel, ended: make(chan struct{})}
		e.running = append(e.running, r)
		go func() {
			defer close(r.ended)
			r.err = c.Run(ctx)
		}()
	}
}

// Stop stops all controllers, as the end of their process would, and waits until they have
// returned. It fails the test if one of them has ended earlier.
func (e *Env) Stop() {
	e.t.Helper()
	synctest.Wait()
	for _, r := range e.running {
		select {
		case <-r.ended:
			e.t.Errorf("controller %s has ended before the test stopped it: %v", r.Name(), r.err)
		default:
		}
		r.cancel(errStopped)
	}
	for _, r := range e.running {
		<-r.ended
	}
	e.running = nil
}

// Settle waits until the controllers have nothing left to do. Time passes as needed, for instance
// until a failed key is retried. If there is still work after 10 minutes by the bubble's clock, or
// a controller has ended, Settle calls Fatal with each controller's activity.
func (e *Env) Settle() {
	e.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(tick) {
		synctest.Wait()
		var busy []string
		for _, r := range e.running {
			select {
			case <-r.ended:
				e.t.Fatalf("controller %s has ended: %v", r.Name(), r.err)
			default:
			}
			busy = append(busy, doing(r.Status())...)
		}
		switch {
		case len(busy) == 0:
			return
		case !time.Now().Before(end):
			e.t.Fatalf("the controllers have not settled in %s:\n\t%s", patience, strings.Join(busy, "\n\t"))
		}
	}
}

func doing(s controller.Status) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, "controller "+s.Name+": "+fmt.Sprintf(format, args...))
	}
	if !s.Synced {
		add("it has not synced: %s", strings.Join(s.Missing, "; "))
	}
	for _, key := range s.Queue.Running {
		add("it has been reconciling %s for %s", key.Key, time.Since(key.Since))
	}
	for _, wait := range s.Awaiting {
		add("%s", wait)
	}
	if ready := s.Queue.High + s.Queue.Normal + s.Queue.Low; ready > 0 {
		add("%d keys are ready", ready)
	}
	if s.Queue.Paced > 0 {
		add("%d keys are paced", s.Queue.Paced)
	}
	if s.Queue.Failing > 0 {
		add("%d keys are tried again; the last error was that of %s: %s", s.Queue.Failing, s.LastErrorKey, s.LastError)
	}
	return lines
}
