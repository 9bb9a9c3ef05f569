// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// HandlersOf returns, for each subscription, the part of its status that is about one key: Backlog
// counts the events of the key, WaitingSince is when the oldest of them was published, and Callback
// is set if it is running for the key.
func (i *Informer) HandlersOf(key object.Key) []HandlerStatus {
	i.mu.Lock()
	subs := slices.Clone(i.subs)
	i.mu.Unlock()
	all := make([]HandlerStatus, len(subs))
	for n, s := range subs {
		all[n] = s.statusOf(key)
	}
	return all
}

// statusOf looks through what waits. It does so in copies, since there may be much of it: versions
// and batches are immutable.
func (s *Subscription) statusOf(key object.Key) HandlerStatus {
	s.mu.Lock()
	v := s.informer.pool.view(s)
	status := s.statusLocked(v)
	if status.Callback != "" && status.Key != key {
		status.Callback, status.Key, status.Since = "", object.Key{}, time.Time{}
	}
	w := waiting{key: key}
	if v.waits {
		w.change(&v.pending, v.pendingAt)
	}
	if n, at := s.backlog.WaitingFor(key); n > 0 {
		w.add(n, at)
	}
	replays, delivered, log := slices.Clone(s.replays), s.replayed, s.log
	s.mu.Unlock()

	for n, r := range replays {
		if n > 0 {
			delivered = 0
		}
		w.replay(r, delivered)
	}
	w.stretch(log)
	w.stretch(v.tail)
	status.Backlog, status.WaitingSince = w.events, time.Time{}
	if w.events > 0 {
		status.WaitingSince = s.epoch.Add(w.since)
	}
	return status
}

// waiting is what waits for one key.
type waiting struct {
	key    object.Key
	events int
	since  time.Duration
}

func (w *waiting) add(events int, at time.Duration) {
	if w.events == 0 || at < w.since {
		w.since = at
	}
	w.events += events
}

func (w *waiting) change(c *changelog.Change, at time.Duration) {
	if c.Key() == w.key {
		w.add(1, at)
	}
}

func (w *waiting) stretch(s changelog.Stretch) {
	for s.Len() > 0 {
		w.change(s.Next())
		s.Pass()
	}
}

// replay looks behind the objects that were delivered.
func (w *waiting) replay(r replay, delivered int) {
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
