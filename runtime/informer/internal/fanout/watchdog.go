// SPDX-License-Identifier: Apache-2.0

package fanout

import "time"

// A callback that does not return is logged after stuckAfter, and again each stuckInterval. One
// goroutine looks for such callbacks each watchdogInterval.
const (
	stuckAfter       = 30 * time.Second
	stuckInterval    = 5 * time.Minute
	watchdogInterval = 5 * time.Second
)

func (f *Fanout) watch(r *Run, stopWatchdog <-chan struct{}) {
	ticker := time.NewTicker(watchdogInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-stopWatchdog:
			return
		}
		for _, s := range f.Subscriptions() {
			if status, stuck := s.stuck(); stuck {
				s.logger(r).Info("A handler has not returned", "informer", f.config.Name, "handler", status.Name,
					"callback", status.Callback, "key", status.Key.String(), "duration", time.Since(status.Since).Round(time.Millisecond))
			}
		}
	}
}

func (s *Subscription) stuck() (status HandlerStatus, stuck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.fanout.now()
	if s.running.Type == 0 || now-s.since < stuckAfter || s.loggedAt > 0 && now-s.loggedAt < stuckInterval {
		return status, false
	}
	s.loggedAt = now
	return s.statusLocked(0), true
}
