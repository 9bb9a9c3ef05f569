// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Reading the clock takes as long as everything else in a delivery. So while callbacks are quick,
// the clock is read once for callbacksPerReading of them, unless a metrics recorder needs the
// duration of each.
const (
	callbacksPerReading = 16
	quick               = time.Millisecond // callbacks are quick if so many of them take less
)

// startLocked notes that the callback of s.running begins, and returns when, since epoch.
func (s *Subscription) startLocked() time.Duration {
	if s.unread--; s.unread > 0 {
		return s.since
	}
	now := time.Since(s.epoch)
	if s.inTurn && now-s.since < quick && s.recorder == nil {
		s.unread = callbacksPerReading
	}
	s.inTurn, s.since = true, now
	return now
}

// restLocked notes that nothing waits for the handler.
func (s *Subscription) restLocked() {
	s.unread, s.inTurn = 0, false
	s.caughtUpLocked()
}

// finishLocked notes that the running callback, if there is one, has returned.
func (s *Subscription) finishLocked() {
	s.returned = s.returned || s.running.Type != 0
	s.running = changelog.Change{}
	if s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// call calls the handler, and has the mutation detector check the objects before and after the
// callback. since is when the callback began, since epoch.
func (s *Subscription) call(r *run, c *changelog.Change, since time.Duration) {
	if s.detector == nil {
		s.callback(r, c, since)
		return
	}
	s.detector.Check("", c.Old, c.New)
	s.callback(r, c, since)
	s.detector.Check(s.config.Name, c.Old, c.New)
}

// callback calls the handler, and logs a panic or a runtime.Goexit.
func (s *Subscription) callback(r *run, c *changelog.Change, since time.Duration) {
	returned := false
	defer func() {
		if s.recorder != nil {
			s.recorder.CallbackDone(time.Since(s.epoch)-since, !returned)
		}
		if returned {
			return
		}
		key, recovered := c.Key().String(), recover()
		if recovered != nil && s.config.Crash {
			s.crashing = true
			panic(recovered) // with the callback still on the stack
		}
		if recovered != nil {
			s.logger(r).Error(panicError(recovered), "A handler panicked", "informer", s.informer.config.Name, "handler", s.config.Name,
				"callback", c.Type.Callback(), "key", key, "stack", stack())
			return
		}
		s.logger(r).Error(errGoexit, "A handler ended its goroutine", "informer", s.informer.config.Name,
			"handler", s.config.Name, "callback", c.Type.Callback(), "key", key)
	}()
	switch c.Type {
	case changelog.Added:
		s.handler.OnAdd(c.New, c.Initial)
	case changelog.Modified:
		s.handler.OnUpdate(c.Old, c.New)
	case changelog.Deleted:
		s.handler.OnDelete(Deleted{Key: object.KeyOf(c.Old), Object: c.Old, FinalStateUnknown: c.FinalStateUnknown})
	}
	returned = true
}

// logger returns the logger for what is logged about the handler.
func (s *Subscription) logger(r *run) klog.Logger {
	if s.config.Logger != nil {
		return *s.config.Logger
	}
	return r.logger
}

var errGoexit = errors.New("runtime.Goexit was called")

func panicError(recovered any) error {
	if err, ok := recovered.(error); ok {
		return err
	}
	return fmt.Errorf("%v", recovered)
}

func stack() string { return string(debug.Stack()) }
