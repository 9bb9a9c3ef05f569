// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"fmt"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// HandlerStatus is the state of one subscription; informer.HandlerStatus documents its fields.
type HandlerStatus struct {
	Name         string
	Synced       bool
	Backlog      int
	WaitingSince time.Time
	Merging      bool
	Callback     string
	Key          object.Key
	Since        time.Time
}

// Obstacle returns a line about the running callback of the informer's handler, "" if none is
// running.
func (h HandlerStatus) Obstacle(informer string) string {
	if h.Callback == "" {
		return ""
	}
	return fmt.Sprintf("%s: handler %q has not returned from %s of %s for %v",
		informer, h.Name, h.Callback, h.Key, time.Since(h.Since).Round(time.Millisecond))
}

// Status returns the state of the handler.
func (s *Subscription) Status() HandlerStatus {
	logLen := s.fanout.logLen()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusLocked(logLen)
}

// statusLocked returns the status. logLen is the log's length, read before mu was taken.
func (s *Subscription) statusLocked(logLen int64) HandlerStatus {
	status := HandlerStatus{
		Name:    s.config.Name,
		Synced:  s.HasSynced(),
		Backlog: s.lagLocked(logLen) + s.backlog.Len() + s.initialCountLocked(),
		Merging: s.flow.slow,
	}
	if status.Backlog > 0 {
		status.WaitingSince = s.timeOf(s.oldestLocked())
	}
	if s.running.Type != 0 {
		status.Callback, status.Key, status.Since = s.running.Callback(), s.running.Key(), s.timeOf(s.since)
	}
	return status
}

// lagLocked returns the number of changes in the log that the handler has not passed.
func (s *Subscription) lagLocked(logLen int64) int {
	if s.removed {
		return 0
	}
	return int(max(0, logLen-s.cursor.Passed()))
}

// oldestLocked returns when the oldest waiting event was published. There must be one.
func (s *Subscription) oldestLocked() time.Duration {
	switch {
	case s.initialCountLocked() > 0:
		return s.replays[0].at
	case s.backlog.Len() > 0:
		return s.backlog.Since()
	}
	_, at := s.cursor.Next()
	return at
}

func (s *Subscription) timeOf(d time.Duration) time.Time { return s.fanout.config.Epoch.Add(d) }

// StatusOf returns the status of one key, as informer.SharedIndexInformer.KeyStatus documents. It
// searches a copy without mu, since there may be many events: versions and batches are immutable.
func (s *Subscription) StatusOf(key object.Key) HandlerStatus {
	s.mu.Lock()
	status := s.statusLocked(0)
	if status.Callback != "" && status.Key != key {
		status.Callback, status.Key, status.Since = "", object.Key{}, time.Time{}
	}
	w := keyBacklog{key: key}
	if n, at := s.backlog.WaitingFor(key); n > 0 {
		w.add(n, at)
	}
	replays, delivered, cursor, removed := slices.Clone(s.replays), s.replayed, s.cursor, s.removed
	s.mu.Unlock()

	for n, r := range replays {
		if n > 0 {
			delivered = 0
		}
		w.addReplay(r, delivered)
	}
	for !removed {
		c, at := cursor.Next()
		if c == nil {
			break
		}
		if c.Key() == key {
			w.add(1, at)
		}
		cursor.Pass()
	}
	status.Backlog, status.WaitingSince = w.events, time.Time{}
	if w.events > 0 {
		status.WaitingSince = s.timeOf(w.since)
	}
	return status
}

// keyBacklog sums up the waiting events of one key.
type keyBacklog struct {
	key    object.Key
	events int
	since  time.Duration
}

func (w *keyBacklog) add(events int, at time.Duration) {
	if w.events == 0 || at < w.since {
		w.since = at
	}
	w.events += events
}

// addReplay counts the key's object, unless it is among the first delivered ones.
func (w *keyBacklog) addReplay(r replay, delivered int) {
	if _, ok := r.version.Get(w.key); !ok || r.namespace != "" && r.namespace != w.key.Namespace {
		return
	}
	n := 0
	for obj := range r.objects().All {
		if object.KeyOf(obj) == w.key {
			if n >= delivered {
				w.add(1, r.at)
			}
			return
		}
		n++
	}
}

func (s *Subscription) measure() metrics.HandlerState {
	status := s.Status()
	return metrics.HandlerState{
		Synced: status.Synced, Backlog: status.Backlog, Merging: status.Merging,
		WaitingSince: status.WaitingSince, CallbackSince: status.Since,
	}
}
