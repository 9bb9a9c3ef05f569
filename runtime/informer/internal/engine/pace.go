// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// When more waits for a handler in the log than its threshold, whoever has published that gives it
// time to catch up, and publishes nothing before it has taken two changes for each that came, or
// has no more waiting than its threshold. So a handler that is quick gets every single event, the
// log stays bounded, and what sends the events is slowed down: who applies is who reads, or fills
// the queue that the reader waits for.
//
// A handler is slow once it has used up its patience: time that was waited for it, beyond brisk for
// each change that it has taken meanwhile. From then on all that waits for it in the log is merged
// into its backlog, and nothing waits for it, until it has caught up: when nothing waits for it any
// more, it has all of its patience again. It is slow at once where waiting makes no sense: with a
// threshold that one batch may pass, so that there would be a wait after each; in its first
// callback out of the initial objects or the log, since nothing is known about its speed; while
// more initial objects than its threshold are to be delivered; and when the differences of a relist
// come while it lags already. The differences of a relist themselves wait for no handler, and take
// no memory for each: the log has them once.
//
// Merging is for whoever has published too, because a handler that is stuck has no turn in which it
// could be done. It is done under Subscription.mu alone, mergedAtOnce changes at a time, so that
// nothing else waits for it.
const (
	patience     = 250 * time.Millisecond
	brisk        = 50 * time.Microsecond
	mergedAtOnce = 128
)

// pace is what is known about a handler's speed. Subscription.mu guards it.
type pace struct {
	patience time.Duration // what is left
	goal     int64         // reached is closed when so many changes were taken
	reached  chan struct{} // nil if nothing waits for it
}

// laggard is a subscription that lags, or is slow, after a publication.
type laggard struct {
	sub           *Subscription
	taken, logged int64 // as they were then
	head          int64 // 1 if there was one that waited, else 0
}

// newLaggard is called with pool.mu held.
func newLaggard(s *Subscription, logged int64) laggard {
	l := laggard{sub: s, taken: s.taken.Load(), logged: logged}
	if s.slot.headWaits() {
		l.head = 1
	}
	return l
}

// lags reports whether more waits than the threshold when so many changes were taken.
func (l *laggard) lags(taken int64) bool {
	most := l.sub.config.Threshold
	return most != Never && l.logged-taken+l.head > int64(most)
}

// publication is what laggards have not taken yet.
type publication struct {
	at      time.Duration // after Informer.epoch
	changes int64
	full    bool // the differences of a full state
}

// pace waits for the handlers that lag behind a publication, and merges what waits for those that
// are slow. It is called without a lock.
func (p publication) pace(r *run, laggards []laggard) {
	for n := range laggards {
		if l := &laggards[n]; l.sub.isSlow(r, l, p) {
			l.sub.merge(l.logged)
		}
	}
}

// isSlow waits until the handler has taken enough of what it lags behind. It returns true if that
// takes too long.
func (s *Subscription) isSlow(r *run, l *laggard, p publication) bool {
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
		case hopeless || s.calling && !s.returned || int64(s.initialLocked()) > most || used >= s.pace.patience:
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
		case <-timer.C: // it may have taken some
		case <-r.over:
			return false
		}
	}
}

// reachLocked returns a channel that is closed when so many changes were taken, or sooner.
func (s *Subscription) reachLocked(taken int64) <-chan struct{} {
	if s.pace.reached == nil {
		s.pace.reached, s.pace.goal = make(chan struct{}), taken
	}
	s.pace.goal = min(s.pace.goal, taken) // another stream waits too
	return s.pace.reached
}

const tookPerStore = 16

// tookLocked notes that a change was taken out of the log.
func (s *Subscription) tookLocked() {
	if s.took++; s.log.left%tookPerStore == 0 {
		s.taken.Store(s.took)
	}
	if s.pace.reached != nil && s.took >= s.pace.goal {
		s.goOnLocked()
	}
}

// goOnLocked lets go on who waits for the handler.
func (s *Subscription) goOnLocked() {
	if s.pace.reached != nil {
		close(s.pace.reached)
		s.pace.reached = nil
	}
}

// caughtUpLocked notes that nothing waits.
func (s *Subscription) caughtUpLocked() {
	s.pace.patience = patience
	if s.slow.Load() {
		s.slow.Store(false)
	}
}

// merge merges what waits in the log up to a change, unless the handler catches up meanwhile.
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
		s.backlog.add(s.log.next())
		s.log.pass()
		s.tookLocked()
	}
	return true
}
