// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"runtime"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	added    = deltafifo.Added
	modified = deltafifo.Modified
	deleted  = deltafifo.Deleted
)

// start starts the handler's goroutine. Fanout.mu is held.
func (s *Subscription) start(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resyncDue = false
	s.fanout.wg.Go(func() {
		if r.Recorder != nil {
			s.recorder = r.Recorder.BeginHandler(s.config.Name, s.measure)
		}
		if s.config.Resync > 0 {
			s.timer = time.AfterFunc(s.config.Resync, s.tick)
		}
		s.serve(r)
	})
}

// serve calls the handler until the goroutine has to end.
func (s *Subscription) serve(r *Run) {
	s.mu.Lock()
	s.goroutine = goroutineID()
	s.mu.Unlock()
	stopped := false
	defer func() {
		switch {
		case stopped:
			s.end()
		case !s.crashing: // the handler has called runtime.Goexit
			s.fanout.wg.Go(func() { s.serve(r) })
		}
	}()
	for s.step(r) {
	}
	stopped = true
}

func (s *Subscription) end() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.recorder != nil {
		s.recorder.Close()
		s.recorder = nil
	}
	s.mu.Lock()
	s.goroutine = 0
	removed := s.removed
	s.mu.Unlock()
	if removed {
		s.fanout.forget(s)
	}
}

func (s *Subscription) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resyncDue = true
	s.wakeUp()
}

// step delivers the next event, all of a replay or a resync, or waits for more to deliver. It
// returns false if the goroutine has to end.
func (s *Subscription) step(r *Run) bool {
	// Read this first: if true, the initial objects are among the replays below.
	synced := outcome.Closed(s.fanout.config.Synced)
	s.mu.Lock()
	if s.stoppedLocked(r) {
		s.mu.Unlock()
		return false
	}
	if len(s.replays) > 0 {
		s.mu.Unlock()
		s.replayNext(r)
		return true
	}
	if synced && !s.HasSynced() {
		close(s.synced)
	}
	if next, ok := s.nextLocked(); ok {
		s.beginCallLocked(next)
		s.mu.Unlock()
		s.call(r)
		return true
	}
	s.caughtUpLocked()
	due := s.resyncDue
	s.mu.Unlock()
	if due && s.resync(r) {
		return true
	}
	<-s.wake
	return true
}

// stoppedLocked notes that the last callback has returned, and reports whether no other may begin.
func (s *Subscription) stoppedLocked(r *Run) bool {
	s.endCallLocked()
	return s.removed || outcome.Closed(r.Over)
}

// replayNext delivers the objects of the first replay as adds, each in its newest state if the
// backlog has later changes. A replay interrupted by a run's end continues in the next run.
func (s *Subscription) replayNext(r *Run) {
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
		if s.stoppedLocked(r) {
			s.mu.Unlock()
			return
		}
		s.replayed++
		if obj = s.backlog.Take(obj); obj == nil {
			s.mu.Unlock()
			continue
		}
		s.beginCallLocked(changelog.Change{Type: added, Initial: true, New: obj})
		s.mu.Unlock()
		s.call(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endCallLocked(); !s.removed {
		s.replays[0] = replay{} // keeps nothing alive
		s.replays, s.replayed = s.replays[1:], 0
	}
}

// resync delivers every object as an update of itself, and returns true. If other events wait, it
// does nothing and returns false: the handler's last events must be those of the newest version.
func (s *Subscription) resync(r *Run) (done bool) {
	version := s.beginResync()
	if version == nil {
		return false // a publisher has woken this goroutine
	}
	defer s.timer.Reset(s.config.Resync) // also if a callback calls runtime.Goexit
	for obj := range version.All {
		s.mu.Lock()
		if s.stoppedLocked(r) {
			s.mu.Unlock()
			break
		}
		s.beginCallLocked(changelog.Change{Type: modified, Old: obj, New: obj})
		s.mu.Unlock()
		s.call(r)
	}
	return true
}

// beginResync begins a resync of the returned version; nil if something waits.
func (s *Subscription) beginResync() *table.Version {
	f := s.fanout
	f.mu.Lock()
	defer f.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || len(s.replays) > 0 || s.backlog.Len() > 0 || s.cursor.Passed() != f.log.Len() {
		return nil
	}
	s.resyncDue = false
	return f.version
}

func (s *Subscription) beginCallLocked(c changelog.Change) {
	s.running, s.since, s.loggedAt = c, s.fanout.now(), 0
}

func (s *Subscription) endCallLocked() {
	s.running = changelog.Change{}
	if s.returned != nil {
		close(s.returned)
		s.returned = nil
	}
}

// callsInARow is the number of callbacks after which other goroutines get a turn. Otherwise each of
// many busy handlers would keep a processor for 10 ms, until it is preempted.
const callsInARow = 256

// call calls the handler with s.running, which only its goroutine changes. The mutation detector
// checks the objects before and after the callback.
func (s *Subscription) call(r *Run) {
	if s.calls++; s.calls%callsInARow == 0 {
		runtime.Gosched()
	}
	d, c := s.fanout.config.Mutations, &s.running
	if d == nil {
		s.callback(r, c)
		return
	}
	d.Check("", c.Old, c.New)
	s.callback(r, c)
	d.Check(s.config.Name, c.Old, c.New)
}

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
		err, message, more := outcome.ErrGoexit, "A handler ended its goroutine", []any(nil)
		if recovered != nil {
			err, message, more = outcome.Panic(recovered), "A handler panicked", []any{"stack", string(debug.Stack())}
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

func (s *Subscription) logger(r *Run) klog.Logger {
	if s.config.Logger != nil {
		return *s.config.Logger
	}
	return r.Logger
}
