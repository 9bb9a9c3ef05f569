// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
)

// turn calls the handler until nothing waits for it. It returns true if the subscription's part in
// the run is over.
func (s *Subscription) turn(r *run) (over bool) {
	s.begin(r)
	for n := 1; ; n++ {
		switch s.step(r) {
		case delivered:
			yield(n)
		case nothing:
			return false
		case ended:
			if s.timer != nil {
				s.timer.Stop()
				s.timer = nil
			}
			if s.recorder != nil {
				s.recorder.Close()
				s.recorder = nil
			}
			s.forgetRemoved()
			return true
		}
	}
}

// begin begins the subscription's part in the run, unless it has begun. The last turn ends it.
func (s *Subscription) begin(r *run) {
	if r.recorder != nil && s.recorder == nil {
		s.recorder = r.recorder.BeginHandler(s.config.Name, s.measure)
	}
	if s.config.Resync > 0 && s.timer == nil {
		s.timer = time.AfterFunc(s.config.Resync, s.tick)
	}
}

// yield lets other goroutines run from time to time. Without it, a long replay to a quick handler
// would keep a processor for 10 ms, until it is preempted.
func yield(n int) {
	if n%256 == 0 {
		runtime.Gosched()
	}
}

// tick makes a resync due.
func (s *Subscription) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = true
	s.informer.pool.notify(s)
}

// progress is the outcome of a step.
type progress uint8

const (
	delivered progress = iota
	nothing            // nothing waits
	// ended: the run is over, or the subscription was removed; it gets no other turn in this run
	ended
)

// step delivers the next event, or all of a replay or a resync.
func (s *Subscription) step(r *run) progress {
	// This is read first: if it is true, the initial objects are among the replays below.
	synced := s.told || s.informer.HasSynced()
	s.mu.Lock()
	if s.overLocked(r) {
		s.mu.Unlock()
		return ended
	}
	if len(s.replays) > 0 {
		s.mu.Unlock()
		s.replayNext(r)
		return delivered
	}
	if synced && !s.told {
		if s.told = true; !closed(s.synced) {
			close(s.synced)
		}
	}
	switch {
	case s.nextLocked():
		since := s.startLocked()
		s.mu.Unlock()
		s.call(r, &s.running, since)
		return delivered
	case s.due:
		s.mu.Unlock()
		s.resync(r)
		return delivered
	}
	s.restLocked()
	s.mu.Unlock()
	return nothing
}

// overLocked begins each step of a turn: it notes that the previous callback has returned, and
// reports whether the turn has to end.
func (s *Subscription) overLocked(r *run) bool {
	s.finishLocked()
	return s.removed || r.ctx.Err() != nil
}

// replayNext delivers the objects of the first replay as adds. Of an object with later changes in
// the backlog, only the newest state is delivered. A replay that a run's end interrupts is
// continued in the next run.
func (s *Subscription) replayNext(r *run) {
	s.mu.Lock()
	if s.removed {
		s.mu.Unlock()
		return
	}
	objects, skip := s.replays[0].objects(), s.replayed
	s.mu.Unlock()
	n := 0
	for obj := range objects.All {
		if skip > 0 {
			skip--
			continue
		}
		n++
		yield(n)
		s.mu.Lock()
		if s.overLocked(r) {
			s.mu.Unlock()
			return
		}
		s.replayed++
		if obj = s.backlog.Take(obj); obj == nil {
			s.mu.Unlock()
			continue
		}
		s.running = changelog.Change{Type: changelog.Added, Initial: true, New: obj}
		since := s.startLocked()
		s.mu.Unlock()
		s.call(r, &s.running, since)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finishLocked(); !s.removed {
		s.replays[0] = replay{} // keeps nothing alive
		s.replays, s.replayed = s.replays[1:], 0
	}
}

// resync delivers every object as an update of itself, and returns true. Unless everything else has
// been delivered, so that the handler's last events are those of the current version, it does
// nothing and returns false.
func (s *Subscription) resync(r *run) (done bool) {
	s.informer.mu.Lock()
	s.mu.Lock()
	version := s.informer.table.Version()
	current := len(s.replays) == 0 && s.waitingLocked() == 0 && s.backlog.Len() == 0
	s.due = s.due && !current
	s.mu.Unlock()
	s.informer.mu.Unlock()
	if !current {
		return false
	}
	if s.timer != nil {
		defer s.timer.Reset(s.config.Resync) // also if a callback calls runtime.Goexit
	}
	n := 0
	for obj := range version.All {
		n++
		yield(n)
		s.mu.Lock()
		if s.overLocked(r) {
			s.mu.Unlock()
			break
		}
		s.running = changelog.Change{Type: changelog.Modified, Old: obj, New: obj}
		since := s.startLocked()
		s.mu.Unlock()
		s.call(r, &s.running, since)
	}
	return true
}
