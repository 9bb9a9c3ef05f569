// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"
)

// A callback that does not return is logged after stuckAfter, and again each stuckAgain. A worker
// looks for such callbacks when the watchdog asks for it: lookEvery after a turn has begun, and
// again while a callback is running, or sooner if a line is due. So an informer that has nothing to
// do has no timer, and most callbacks don't set one.
const (
	stuckAfter = 30 * time.Second
	stuckAgain = 5 * time.Minute
	lookEvery  = 5 * time.Second
)

// reported is the callback that was last logged as not returning: when it began, and when it was
// logged.
type reported struct{ began, at time.Duration } // since Informer.epoch

// watchLocked sets the watchdog, unless it is set.
func (p *pool) watchLocked() {
	if !p.watched {
		p.watchAgainLocked(lookEvery)
	}
}

func (p *pool) watchAgainLocked(after time.Duration) {
	p.watched = true
	if p.watchdog == nil {
		p.watchdog = time.AfterFunc(after, p.bark)
	} else {
		p.watchdog.Reset(after)
	}
}

// unwatchLocked stops the watchdog, at the end of a run.
func (p *pool) unwatchLocked() {
	if p.watchdog != nil {
		p.watchdog.Stop()
	}
	p.watchdog, p.watched, p.look = nil, false, false
}

// bark makes a worker look for callbacks that do not return. If the run is ending, it starts a new
// worker for that, unless all have ended.
func (p *pool) bark() {
	p.mu.Lock()
	var w *worker
	if p.workers > 0 {
		p.look = true
		w = p.searchLocked()
	}
	p.mu.Unlock()
	w.wakeUp()
}

// lookLocked unlocks p.mu, logs which callbacks do not return, locks p.mu, and sets the watchdog if
// any is running.
func (p *pool) lookLocked(r *run) {
	p.look, p.watched = false, false // not later: a turn that begins from now on sets it
	other := p.searchLocked()
	p.mu.Unlock()
	other.wakeUp()
	i := p.informer
	i.mu.Lock()
	subs := slices.Clone(i.subs)
	i.mu.Unlock()
	after := time.Duration(0)
	for _, s := range subs {
		status, due, running := s.look()
		if status.Callback != "" {
			s.logger(r).Info("A handler has not returned", "informer", i.config.Name, "handler", status.Name,
				"callback", status.Callback, "key", status.Key.String(), "duration", time.Since(status.Since).Round(time.Millisecond))
		}
		if running && (after == 0 || due < after) {
			after = due
		}
	}
	p.mu.Lock()
	if after > 0 && !p.watched {
		p.watchAgainLocked(min(after, lookEvery))
	}
}

// look returns the running callback in report, if it has to be logged now; else report.Callback is
// "". running reports whether a callback is running, and due when the next line about it is due.
func (s *Subscription) look() (report HandlerStatus, due time.Duration, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.statusLocked(s.informer.pool.view(s))
	if status.Callback == "" {
		return HandlerStatus{}, 0, false
	}
	s.unread = 0 // so startLocked reads the clock
	began, now := status.Since.Sub(s.epoch), s.informer.now()
	due = began + stuckAfter
	if s.reported.began == began && s.reported.at > 0 {
		due = s.reported.at + stuckAgain
	}
	if due <= now {
		report = status
		s.reported.began, s.reported.at = began, now
		due = now + stuckAgain
	}
	return report, due - now, true
}
