// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// When more changes wait for a handler in the log than its threshold, the publisher (the goroutine
// that has applied and published the last batch) gives the handler time to catch up. It publishes
// nothing more until the handler has taken two changes for each new one, or has no more waiting
// than its threshold. So a quick handler gets every single event, and the log stays bounded. The
// server is slowed down, because the publisher is the stream's reader, or the applier, whose queue
// fills until the reader waits.
//
// Each handler has a patience: the time for which publishers wait for it, beyond brisk for each
// change that it takes meanwhile. A handler that has used it up is slow. From then on, all changes
// that wait for it in the log are merged into its backlog, and no publisher waits for it. When it
// has caught up, so that no change waits for it, it has its full patience again. A handler is slow
// at once where waiting makes no sense:
//
//   - with a threshold that one batch may pass, so that there would be a wait after each batch;
//   - in its first callback for an initial object or a change in the log, since its speed is not
//     known yet;
//   - while more initial objects than its threshold are left to deliver;
//   - when the differences of a relist come while it lags already.
//
// After the differences of a relist, a publisher waits for no handler. They take no memory for each
// handler: the log has them once.
//
// The publisher does the merging too, because a handler that is stuck never begins another turn. It
// merges under Subscription.mu alone, mergedAtOnce changes at a time, so that no other goroutine
// waits long for the lock.
const (
	patience     = 250 * time.Millisecond
	brisk        = 50 * time.Microsecond
	mergedAtOnce = 128
)

// pace is the state of the waiting for a handler. Subscription.mu guards it.
type pace struct {
	patience time.Duration // how much is left
	goal     int64         // how many changes have to be taken until reached is closed
	reached  chan struct{} // nil if no publisher waits for it
}

// laggard is a subscription that lags, or is slow, after a publication, with its counts at that
// time.
type laggard struct {
	sub           *Subscription
	taken, logged int64 // Subscription.taken and Subscription.logged
	pending       int64 // 1 if a pending event waited, else 0
}

// newLaggard is called with pool.mu held.
func newLaggard(s *Subscription, logged int64) laggard {
	l := laggard{sub: s, taken: s.taken.Load(), logged: logged}
	if s.slot.pendingWaits() {
		l.pending = 1
	}
	return l
}

// lags reports whether, after so many changes were taken, more than the threshold wait.
func (l *laggard) lags(taken int64) bool {
	most := l.sub.config.Threshold
	return most != Never && l.logged-taken+l.pending > int64(most)
}

// publication describes one publication, to wait for those that lag behind it.
type publication struct {
	at      time.Duration // when it was published, since Informer.epoch
	changes int64
	full    bool // the changes are the differences of a full state
}

// pace waits for the handlers that lag behind a publication, and merges what waits for those that
// are slow. It waits no longer than until over is closed. It is called without a lock.
func (p publication) pace(over <-chan struct{}, laggards []laggard) {
	for n := range laggards {
		if l := &laggards[n]; l.sub.isSlow(over, l, p) {
			l.sub.merge(l.logged)
		}
	}
}

// isSlow waits until the handler has taken enough of the changes that it lags behind. It returns
// true if that takes too long.
func (s *Subscription) isSlow(over <-chan struct{}, l *laggard, p publication) bool {
	most := int64(s.config.Threshold)
	enough, hopeless := min(l.logged-most, l.taken+2*p.changes), most < atOnce
	if p.full {
		enough, hopeless = l.taken, hopeless || l.logged-p.changes-l.taken > most
	}
	var timer *time.Timer
	for {
		s.mu.Lock()
		used := s.informer.now() - p.at - brisk*time.Duration(s.took-l.taken)
		switch {
		case s.slow.Load():
		case !l.lags(s.took) || s.took >= enough && !hopeless: // or it was removed
			s.pace.patience = min(patience, s.pace.patience-used)
			s.mu.Unlock()
			return false
		case hopeless || s.running.Type != 0 && !s.returned || int64(s.initialLocked()) > most || used >= s.pace.patience:
			s.slow.Store(true)
		}
		if s.slow.Load() {
			s.mu.Unlock()
			return true
		}
		reached, left := s.reachLocked(enough), max(s.pace.patience-used, time.Millisecond)
		s.mu.Unlock()
		if timer == nil {
			timer = time.NewTimer(left)
			defer timer.Stop()
		}
		timer.Reset(left)
		select {
		case <-reached:
		case <-timer.C: // it may have taken some, so look again
		case <-over:
			return false
		}
	}
}

// reachLocked returns a channel that is closed when taken changes were taken, or sooner.
func (s *Subscription) reachLocked(taken int64) <-chan struct{} {
	if s.pace.reached == nil {
		s.pace.reached, s.pace.goal = make(chan struct{}), taken
	}
	s.pace.goal = min(s.pace.goal, taken) // the publisher of another stream waits too
	return s.pace.reached
}

const tookPerStore = 16

// tookLocked notes that a change was taken out of the log.
func (s *Subscription) tookLocked() {
	if s.took++; s.log.Len()%tookPerStore == 0 {
		s.taken.Store(s.took)
	}
	if s.pace.reached != nil && s.took >= s.pace.goal {
		s.goOnLocked()
	}
}

// goOnLocked wakes the publishers that wait for the handler.
func (s *Subscription) goOnLocked() {
	if s.pace.reached != nil {
		close(s.pace.reached)
		s.pace.reached = nil
	}
}

// caughtUpLocked notes that nothing waits for the handler.
func (s *Subscription) caughtUpLocked() {
	s.pace.patience = patience
	if s.slow.Load() {
		s.slow.Store(false)
	}
}

// merge merges what waits in the log, up to change number until, unless the handler catches up
// meanwhile.
func (s *Subscription) merge(until int64) {
	for again := true; again; {
		s.mu.Lock()
		again = s.mergeSomeLocked(until)
		s.mu.Unlock()
	}
}

func (s *Subscription) mergeSomeLocked(until int64) (again bool) {
	for range mergedAtOnce {
		if !s.slow.Load() || s.took >= until || !s.readLocked() {
			return false
		}
		s.backlog.Add(s.log.Next())
		s.log.Pass()
		s.tookLocked()
	}
	return true
}
