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
// Each handler has a patience: the publisher's longest wait for it, beyond quickEvent for each
// change taken meanwhile. A handler that has used it up is slow: all its changes in the log are
// merged into its backlog, and the publisher does not wait for it. Once no change waits for it, it
// has its full patience again. A handler is slow at once where waiting makes no sense:
//
//   - with a threshold that one batch may exceed: there would be a wait after each batch;
//   - while initial objects are left to deliver;
//   - when the differences of a full state come while it lags already.
//
// After the differences of a full state, the publisher waits for no handler: the log has them once
// for all. It merges mergeBatch changes at a time, so that no other goroutine waits long for
// Subscription.mu.
const (
	patience   = 250 * time.Millisecond
	quickEvent = 50 * time.Microsecond
	mergeBatch = 128
	maxBatch   = 128 // changes in one batch of events
)

// Subscription.mu guards flowControl.
type flowControl struct {
	slow     bool
	patience time.Duration // remaining
	goal     int64         // position of the cursor at which reached is closed
	reached  chan struct{} // nil if the publisher does not wait for the handler
}

// lags returns the number of changes passed, and whether keepUp has to be called.
func (s *Subscription) lags(logLen int64) (passed int64, lags bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor.Passed(), s.flow.slow || s.overThresholdLocked(logLen)
}

func (s *Subscription) overThresholdLocked(logLen int64) bool {
	return !s.removed && s.config.Threshold != Never && logLen-s.cursor.Passed() > int64(s.config.Threshold)
}

// keepUp waits until the handler has taken enough of the publication or, if it is slow, merges its
// changes. It doesn't wait after over is closed.
func (l laggard) keepUp(b loggedBatch, over <-chan struct{}) {
	l.waitFor(b, over)
	for l.mergeSome(b.end) {
	}
}

// waitFor waits until the handler has taken enough, or is slow. The time counts from the
// publication, so waits for stuck handlers overlap. A handler that has caught up already loses no
// patience.
func (l laggard) waitFor(b loggedBatch, over <-chan struct{}) {
	s := l.Subscription
	s.mu.Lock()
	defer s.mu.Unlock()
	threshold := int64(s.config.Threshold)
	enough := min(b.end-threshold, l.start+2*b.changes)
	for waited := false; !s.flow.slow && !outcome.Closed(over); waited = true {
		used := s.fanout.now() - b.at - quickEvent*time.Duration(s.cursor.Passed()-l.start)
		switch {
		case s.removed, s.cursor.Passed() >= enough, !s.overThresholdLocked(b.end):
			if waited {
				s.flow.patience = min(patience, s.flow.patience-used)
			}
			return
		case b.full && b.end-b.changes-l.start <= threshold: // it had kept up
			return
		case b.full, threshold < maxBatch, len(s.replays) > 0, used >= s.flow.patience:
			s.flow.slow = true
		default:
			s.waitForPositionLocked(enough, s.flow.patience-used, over)
		}
	}
}

// waitForPositionLocked waits, without mu, until the cursor has passed goal changes, over is
// closed, or the timeout has elapsed.
func (s *Subscription) waitForPositionLocked(goal int64, timeout time.Duration, over <-chan struct{}) {
	reached := make(chan struct{})
	s.flow.reached, s.flow.goal = reached, goal
	s.mu.Unlock()
	timer := time.NewTimer(max(timeout, time.Millisecond))
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C: // the caller checks again, since the handler may have taken some
	case <-over:
	}
	s.mu.Lock()
	s.flow.reached = nil
}

func (s *Subscription) passLocked() {
	s.cursor.Pass()
	if s.cursor.Passed() >= s.flow.goal {
		s.releasePublisherLocked()
	}
}

func (s *Subscription) releasePublisherLocked() {
	if s.flow.reached != nil {
		close(s.flow.reached)
		s.flow.reached = nil
	}
}

// caughtUpLocked notes that nothing waits for the handler.
func (s *Subscription) caughtUpLocked() { s.flow.slow, s.flow.patience = false, patience }

// mergeSome merges a few changes in the log, up to change number end. It returns false when none
// is left, as when the handler has caught up.
func (s *Subscription) mergeSome(end int64) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range mergeBatch {
		if s.removed || !s.flow.slow || s.cursor.Passed() >= end {
			return false
		}
		s.backlog.Add(s.cursor.Next())
		s.passLocked()
	}
	return true
}
