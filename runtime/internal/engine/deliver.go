// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// deliver is the goroutine of a subscription in one run.
func (s *Subscription) deliver(r *run) {
	finished := false
	defer func() {
		if !finished && !s.crashing {
			r.spawn(s) // the callback has called runtime.Goexit; go on in another goroutine
		}
		if finished && s.recorder != nil {
			s.recorder.Close()
			s.recorder = nil
		}
	}()
	if r.recorder != nil && s.recorder == nil {
		s.recorder = r.recorder.BeginHandler(s.config.Name, s.measure)
	}
	s.mu.Lock()
	s.goroutine = goroutineID()
	s.mu.Unlock()

	var resync *time.Timer
	var tick <-chan time.Time
	if s.config.Resync > 0 {
		resync = time.NewTimer(s.config.Resync)
		defer resync.Stop()
		tick = resync.C
	}
	due := false
	for {
		switch s.step(r) {
		case ended:
			finished = true
			return
		case delivered:
			continue
		case idle:
		}
		if due {
			if s.resync(r) {
				due = false
				resync.Reset(s.config.Resync)
			}
			continue
		}
		select {
		case <-s.news:
		case <-tick:
			due = true
		case <-r.ctx.Done():
		case <-s.gone:
		}
	}
}

// progress is the outcome of a step.
type progress uint8

const (
	delivered progress = iota
	idle               // there was nothing to deliver
	ended              // the run is over, or the subscription was removed
)

// step delivers the next event, or all of a replay.
func (s *Subscription) step(r *run) progress {
	synced := s.informer.HasSynced() // read first: if it is true, the initial objects are found below
	s.mu.Lock()
	if s.removed || closed(r.ctx.Done()) {
		s.mu.Unlock()
		return ended
	}
	if len(s.replays) > 0 {
		s.mu.Unlock()
		s.replayNext(r)
		return delivered
	}
	if synced && !closed(s.synced) {
		close(s.synced)
	}
	c, ok := s.nextLocked()
	if !ok {
		s.mu.Unlock()
		return idle
	}
	s.startLocked(&c)
	s.mu.Unlock()
	s.call(r, &c)
	return delivered
}

// replayNext delivers the objects of the first replay as adds. Of an object with later changes in the backlog, only the
// newest state is delivered. A replay that a run's end interrupts is continued in the next run.
func (s *Subscription) replayNext(r *run) {
	s.mu.Lock()
	if s.removed {
		s.mu.Unlock()
		return
	}
	objects, skip := s.replays[0].objects(), s.replayed
	s.mu.Unlock()
	for obj := range objects.All {
		if skip > 0 {
			skip--
			continue
		}
		s.mu.Lock()
		if s.removed || closed(r.ctx.Done()) {
			s.mu.Unlock()
			return
		}
		s.replayed++
		if obj = s.backlog.take(obj); obj == nil {
			s.mu.Unlock()
			continue
		}
		c := change{kind: added, initial: true, new: obj}
		s.startLocked(&c)
		s.mu.Unlock()
		s.call(r, &c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed {
		s.replays[0] = replay{} // keeps nothing alive
		s.replays, s.replayed = s.replays[1:], 0
	}
}

// resync delivers every object as an update of itself. It does nothing and returns false unless everything else has been
// delivered, so that the current version is what the handler knows.
func (s *Subscription) resync(r *run) (done bool) {
	s.informer.mu.Lock()
	s.mu.Lock()
	version := s.informer.table.Version()
	current := len(s.replays) == 0 && s.behind == 0 && s.backlog.empty()
	s.mu.Unlock()
	s.informer.mu.Unlock()
	if !current {
		return false
	}
	for obj := range version.All {
		c := change{kind: updated, old: obj, new: obj}
		s.mu.Lock()
		if s.removed || closed(r.ctx.Done()) {
			s.mu.Unlock()
			break
		}
		s.startLocked(&c)
		s.mu.Unlock()
		s.call(r, &c)
	}
	return true
}

// call calls the handler, and has the detector look at the objects before and after that.
func (s *Subscription) call(r *run, c *change) {
	if s.detector == nil {
		s.callback(r, c)
		return
	}
	s.detector.Check("", c.old, c.new)
	s.callback(r, c)
	s.detector.Check(s.config.Name, c.old, c.new)
}

// callback calls the handler and survives what it does.
func (s *Subscription) callback(r *run, c *change) {
	returned := false
	defer func() {
		took := s.finish()
		if s.recorder != nil {
			s.recorder.CallbackDone(took, !returned)
		}
		if returned {
			return
		}
		key, reason := c.key().String(), recover()
		if reason != nil && s.config.Crash {
			s.crashing = true
			panic(reason) // with the callback still on the stack
		}
		if reason != nil {
			r.logger.Error(panicError(reason), "A handler panicked", "informer", s.informer.config.Name, "handler", s.config.Name,
				"callback", c.kind.callback(), "key", key, "stack", stack())
			return
		}
		r.logger.Error(errGoexit, "A handler ended its goroutine", "informer", s.informer.config.Name,
			"handler", s.config.Name, "callback", c.kind.callback(), "key", key)
	}()
	switch c.kind {
	case added:
		s.handler.Add(c.new, c.initial)
	case updated:
		s.handler.Update(c.old, c.new)
	case deleted:
		s.handler.Delete(Deleted{Key: object.KeyOf(c.old), Object: c.old, FinalStateUnknown: c.finalStateUnknown})
	}
	returned = true
}

func panicError(reason any) error {
	if err, ok := reason.(error); ok {
		return err
	}
	return fmt.Errorf("%v", reason)
}

func stack() string { return string(debug.Stack()) }
