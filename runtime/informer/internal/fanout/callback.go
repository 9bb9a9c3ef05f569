// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"errors"
	"fmt"
	"runtime/debug"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// startLocked notes that the handler is about to be called.
func (s *Subscription) startLocked(c changelog.Change) {
	s.running, s.since, s.told = c, s.fanout.now(), 0
}

// finishLocked notes that the running callback, if there is one, has returned.
func (s *Subscription) finishLocked() {
	s.running = changelog.Change{}
	if s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// call calls the handler with s.running, which only its goroutine changes, and has the mutation
// detector check the objects before and after the callback.
func (s *Subscription) call(r *Run) {
	d, c := s.fanout.config.Mutations, &s.running
	if d == nil {
		s.callback(r, c)
		return
	}
	d.Check("", c.Old, c.New)
	s.callback(r, c)
	d.Check(s.config.Name, c.Old, c.New)
}

// callback calls the handler, and logs a panic or a runtime.Goexit.
func (s *Subscription) callback(r *Run, c *changelog.Change) {
	returned := false
	defer func() {
		if s.recorder != nil {
			s.recorder.CallbackDone(s.fanout.now()-s.since, !returned)
		}
		if returned {
			return
		}
		key, recovered := c.Key().String(), recover()
		if recovered != nil && s.config.Crash {
			s.crashing = true
			panic(recovered) // with the callback still on the stack
		}
		err, message, more := errGoexit, "A handler ended its goroutine", []any(nil)
		if recovered != nil {
			err, message, more = panicError(recovered), "A handler panicked", []any{"stack", string(debug.Stack())}
		}
		s.logger(r).Error(err, message, append([]any{"informer", s.fanout.config.Name, "handler", s.config.Name,
			"callback", c.Callback(), "key", key}, more...)...)
	}()
	switch c.Type {
	case added:
		s.handler.OnAdd(c.New, c.Initial)
	case modified:
		s.handler.OnUpdate(c.Old, c.New)
	case deleted:
		s.handler.OnDelete(Deleted{Key: object.KeyOf(c.Old), Object: c.Old, FinalStateUnknown: c.FinalStateUnknown})
	}
	returned = true
}

// logger returns the logger for what is logged about the handler.
func (s *Subscription) logger(r *Run) klog.Logger {
	if s.config.Logger != nil {
		return *s.config.Logger
	}
	return r.Logger
}

var errGoexit = errors.New("runtime.Goexit was called")

func panicError(recovered any) error {
	if err, ok := recovered.(error); ok {
		return err
	}
	return fmt.Errorf("%v", recovered)
}
