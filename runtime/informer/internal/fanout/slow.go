// SPDX-License-Identifier: Apache-2.0

package fanout

import "time"

// When more changes wait for a handler in the log than its threshold, the publisher gives the
// handler time to catch up. It publishes nothing more until the handler has taken two changes for
// each new one, or has no more waiting than its threshold. So a quick handler gets every single
// event, and the log stays bounded. The server is slowed down, because the DeltaFIFO fills until
// the readers of the streams wait.
//
// Each handler has a patience: the time for which the publisher waits for it, beyond brisk for each
// change that it takes meanwhile. A handler that has used it up is slow. From then on, all changes
// that wait for it in the log are merged into its backlog, and the publisher does not wait for it.
// When no change waits for it any more, it has its full patience again. A handler is slow at once
// where waiting makes no sense:
//
//   - with a threshold that one batch may pass, so that there would be a wait after each batch;
//   - while initial objects are left to deliver;
//   - when the differences of a full state come while it lags already.
//
// After the differences of a full state, the publisher waits for no handler. They take no memory
// for each handler: the log has them once.
//
// The publisher does the merging too, because a handler that is stuck takes nothing. It merges
// under Subscription.mu alone, mergedAtOnce changes at a time, so that no other goroutine waits
// long for the lock.
const (
	patience     = 250 * time.Millisecond
	brisk        = 50 * time.Microsecond
	mergedAtOnce = 128
	oneBatch     = 128 // changes that one batch of events may have
)

// slowness is how slow a handler is. Subscription.mu guards it.
type slowness struct {
	slow     bool
	patience time.Duration // how much is left
	goal     int64         // how many changes have to be passed until reached is closed
	reached  chan struct{} // nil if the publisher does not wait for the handler
}

// published describes one publication, to wait for those that lag behind it.
type published struct {
	at      time.Duration
	until   int64 // how many changes the log has had since
	changes int64
	full    bool // the changes are the differences of a full state
}

// laggard is a subscription that lagged at a publication, with what it had passed then.
type laggard struct {
	*Subscription
	from int64
}

// lags returns how many changes were passed, and whether more wait than the threshold, or the
// handler is slow.
func (s *Subscription) lags(logged int64) (passed int64, lags bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passedLocked(), s.slow.slow || s.overThresholdLocked(logged)
}

func (s *Subscription) overThresholdLocked(logged int64) bool {
	return !s.removed && s.config.Threshold != Never && logged-s.cursor.Passed() > int64(s.config.Threshold)
}

// keepUp waits until the handler has taken enough of what was published, or, if it is slow, merges
// what waits for it. It doesn't wait after over is closed.
func (l laggard) keepUp(p published, over <-chan struct{}) {
	if !l.waitFor(p, over) {
		for l.mergeSome(p.until) {
		}
	}
}

// waitFor waits until the handler has taken enough. It returns false if the handler is slow. The
// time counts since the publication, so that handlers that are stuck are waited for together. It
// costs no patience of a handler that has caught up while the publisher waited for another one.
func (l laggard) waitFor(p published, over <-chan struct{}) bool {
	s := l.Subscription
	s.mu.Lock()
	defer s.mu.Unlock()
	threshold, waited := int64(s.config.Threshold), false
	enough := min(p.until-threshold, l.from+2*p.changes)
	for ; !s.slow.slow; waited = true {
		used := s.fanout.now() - p.at - brisk*time.Duration(s.passedLocked()-l.from)
		if s.removed || s.passedLocked() >= enough || !s.overThresholdLocked(p.until) {
			if waited {
				s.slow.patience = min(patience, s.slow.patience-used)
			}
			return true
		}
		if p.full && p.until-p.changes-l.from <= threshold {
			return true
		}
		if p.full || threshold < oneBatch || len(s.replays) > 0 || used >= s.slow.patience {
			s.slow.slow = true
			return false
		}
		if !s.sleepLocked(enough, s.slow.patience-used, over) {
			return true
		}
	}
	return false
}

// sleepLocked waits, without mu, until so many changes are passed, or for a time. It returns false
// if over is closed before.
func (s *Subscription) sleepLocked(passed int64, most time.Duration, over <-chan struct{}) bool {
	reached := make(chan struct{})
	s.slow.reached, s.slow.goal = reached, passed
	s.mu.Unlock()
	timer := time.NewTimer(max(most, time.Millisecond))
	defer timer.Stop()
	goesOn := true
	select {
	case <-reached:
	case <-timer.C: // it may have taken some, so the caller looks again
	case <-over:
		goesOn = false
	}
	s.mu.Lock()
	s.slow.reached = nil
	return goesOn
}

// passedLocked returns how many changes of the log were delivered or merged, or are not wanted.
func (s *Subscription) passedLocked() int64 {
	if s.removed {
		return 0
	}
	return s.cursor.Passed()
}

// passLocked moves the cursor past a change.
func (s *Subscription) passLocked() {
	s.cursor.Pass()
	if s.slow.reached != nil && s.cursor.Passed() >= s.slow.goal {
		s.goOnLocked()
	}
}

// goOnLocked wakes the publisher if it waits for the handler.
func (s *Subscription) goOnLocked() {
	if s.slow.reached != nil {
		close(s.slow.reached)
		s.slow.reached = nil
	}
}

// caughtUpLocked notes that nothing waits for the handler.
func (s *Subscription) caughtUpLocked() { s.slow.slow, s.slow.patience = false, patience }

// mergeSome merges some of what waits in the log, up to change number until. It returns false when
// there is nothing more to merge, as when the handler has caught up.
func (s *Subscription) mergeSome(until int64) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range mergedAtOnce {
		if s.removed || !s.slow.slow || s.cursor.Passed() >= until {
			return false
		}
		s.backlog.Add(s.cursor.Next())
		s.passLocked()
	}
	return true
}
