// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"
)

// A callback that does not return is in the log after stuckAfter, and again each stuckAgain. A
// worker looks for such callbacks each time the watchdog asks for it: lookEvery after a turn has
// begun, and so on while a callback is running, or sooner if one is due. So an informer that has
// nothing to do has no timer, and a callback that comes at once or alone pays for none.
const (
	stuckAfter = 30 * time.Second
	stuckAgain = 5 * time.Minute
	lookEvery  = 5 * time.Second
)

// reported is the callback that was logged last.
type reported struct{ began, at time.Duration } // after Informer.epoch

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

// unwatchLocked is for the end of a run.
func (p *pool) unwatchLocked() {
	if p.watchdog != nil {
		p.watchdog.Stop()
	}
	p.watchdog, p.watched, p.look = nil, false, false
}

// bark has a worker look. Where the run is ending, that is a new one, unless all have ended.
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
			r.logger.Info("A handler has not returned", "informer", i.config.Name, "handler", status.Name,
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

// look returns what is to be logged about the running callback, if its Callback is not empty, and
// whether one is running, and when the next line about it is due.
func (s *Subscription) look() (report HandlerStatus, due time.Duration, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.statusLocked()
	if status.Callback == "" {
		return HandlerStatus{}, 0, false
	}
	s.looks = 0 // its end is not quick
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
