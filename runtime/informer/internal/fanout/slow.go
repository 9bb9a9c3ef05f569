// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
)

// The publisher waits for each handler over its threshold, until it has taken two changes for each
// new one, or is back within the threshold. The DeltaFIFO fills meanwhile, until the readers of the
// streams wait, which slows the server down. So a quick handler gets every single event, and the
// log stays bounded.
//
// Each handler has a patience: the publisher's longest wait for it, beyond brisk for each change
// taken meanwhile. A handler that has used it up is slow: all its changes in the log are
// merged into its backlog, and the publisher does not wait for it. Once no change waits for it, it
// has its full patience again. A handler is slow at once where waiting makes no sense:
//
//   - with a threshold that one batch may exceed: there would be a wait after each batch;
//   - while initial objects are left to deliver;
//   - when the differences of a full state come while it lags already.
//
// After the differences of a full state, the publisher waits for no handler: the log has them once
// for all. It merges mergedAtOnce changes at a time, so that no other goroutine waits long for
// Subscription.mu.
const (
	patience     = 250 * time.Millisecond
	brisk        = 50 * time.Microsecond
	mergedAtOnce = 128
	oneBatch     = 128 // changes in one batch of events, at most
)

// Subscription.mu guards slowness.
type slowness struct {
	slow     bool
	patience time.Duration // remaining
	goal     int64         // position of the cursor at which reached is closed
	reached  chan struct{} // nil if the publisher does not wait for the handler
}

// lags returns the number of changes passed, and whether keepUp has to be called.
func (s *Subscription) lags(logged int64) (passed int64, lags bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor.Passed(), s.slow.slow || s.overThresholdLocked(logged)
}

func (s *Subscription) overThresholdLocked(logged int64) bool {
	return !s.removed && s.config.Threshold != Never && logged-s.cursor.Passed() > int64(s.config.Threshold)
}

// keepUp waits until the handler has taken enough of the publication or, if it is slow, merges its
// changes. It doesn't wait after over is closed.
func (l laggard) keepUp(p published, over <-chan struct{}) {
	l.waitFor(p, over)
	for l.mergeSome(p.until) {
	}
}

// waitFor waits until the handler has taken enough, or is slow. The time counts from the
// publication, so waits for stuck handlers overlap. A handler that has caught up already loses no
// patience.
func (l laggard) waitFor(p published, over <-chan struct{}) {
	s := l.Subscription
	s.mu.Lock()
	defer s.mu.Unlock()
	threshold := int64(s.config.Threshold)
	enough := min(p.until-threshold, l.from+2*p.changes)
	for waited := false; !s.slow.slow && !outcome.Closed(over); waited = true {
		used := s.fanout.now() - p.at - brisk*time.Duration(s.cursor.Passed()-l.from)
		switch {
		case s.removed, s.cursor.Passed() >= enough, !s.overThresholdLocked(p.until):
			if waited {
				s.slow.patience = min(patience, s.slow.patience-used)
			}
			return
		case p.full && p.until-p.changes-l.from <= threshold: // it had kept up
			return
		case p.full, threshold < oneBatch, len(s.replays) > 0, used >= s.slow.patience:
			s.slow.slow = true
		default:
			s.sleepLocked(enough, s.slow.patience-used, over)
		}
	}
}

// sleepLocked waits, without mu, until the cursor has passed so many changes, over is closed, or
// most has elapsed.
func (s *Subscription) sleepLocked(passed int64, most time.Duration, over <-chan struct{}) {
	reached := make(chan struct{})
	s.slow.reached, s.slow.goal = reached, passed
	s.mu.Unlock()
	timer := time.NewTimer(max(most, time.Millisecond))
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C: // the caller looks again, as it may have taken some
	case <-over:
	}
	s.mu.Lock()
	s.slow.reached = nil
}

func (s *Subscription) passLocked() {
	s.cursor.Pass()
	if s.cursor.Passed() >= s.slow.goal {
		s.goOnLocked()
	}
}

func (s *Subscription) goOnLocked() {
	if s.slow.reached != nil {
		close(s.slow.reached)
		s.slow.reached = nil
	}
}

// caughtUpLocked notes that nothing waits for the handler.
func (s *Subscription) caughtUpLocked() { s.slow.slow, s.slow.patience = false, patience }

// mergeSome merges a few changes in the log, up to change number until. It returns false when none
// is left, as when the handler has caught up.
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
