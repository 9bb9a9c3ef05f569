// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Subscription is one handler of one informer and its position: first in a version that is
// replayed, then in the log. While the handler is slow, what waits in the log is merged into a
// backlog. While nothing waits for the handler, a change that comes alone doesn't go through the
// log: it becomes the pending event of the slot.
type Subscription struct {
	// set once at construction
	informer *Informer
	handler  Handler
	config   HandlerConfig
	synced   chan struct{} // closed when the initial objects are delivered
	epoch    time.Time     // a copy of Informer.epoch, which is near fields that are often written
	detector *mutation.Detector

	// Only the goroutine that has the turn uses what follows.
	told     bool                    // synced is closed
	crashing bool                    // a panic of the handler is about to end the process
	recorder metrics.HandlerRecorder // of the run; nil without metrics
	timer    *time.Timer             // of the run; nil if there is no resync

	slot slot // pool.mu guards it

	// logged - took changes wait in the log. pool.mu guards writes of logged, mu those of taken.
	logged atomic.Int64 // changes that were handed to it through the log

	// taken is took, or up to tookPerStore less: an atomic store takes as long as half a delivery.
	taken atomic.Int64

	slow atomic.Bool // what waits is merged: see pace; mu guards writes, reads need no lock

	// mu guards what follows. Lock order: after Informer.mu, before pool.mu.
	mu       sync.Mutex
	due      bool              // a resync is due
	replays  []replay          // are delivered before everything else, except for a pending event
	replayed int               // how many objects of replays[0] were delivered or skipped
	backlog  changelog.Backlog // what was merged: it is older than what waits in the log
	log      changelog.Stretch // what was fetched from slot.tail, and waits
	took     int64             // how many of logged were delivered, merged or dropped
	removed  bool              // slot.removed is set too
	pace     pace

	// The running callback, unless it delivers a pending event. The worker that has the turn also
	// reads running without the lock.
	running  changelog.Change // Type is 0 if no callback is running
	returned bool             // a callback has returned
	// since is when it began, after epoch; of a quick one, when an earlier one of the turn began.
	since    time.Duration
	inTurn   bool // since is of this turn
	unread   int  // how many callbacks begin before the clock is read again
	reported reported
	idle     chan struct{} // if not nil, closed when the callback has returned
}

// replay is a set of objects that are delivered as initial ones: those of a namespace of a version,
// or all of it if namespace is "".
type replay struct {
	version   *table.Version
	namespace string
	at        time.Duration // when it began to wait, since Informer.epoch
}

func (r replay) objects() table.Set { return r.version.Namespace(r.namespace) }

func newSubscription(i *Informer, h Handler, config HandlerConfig) *Subscription {
	return &Subscription{
		informer: i,
		handler:  h,
		config:   config,
		synced:   make(chan struct{}),
		epoch:    i.epoch,
		detector: i.config.Mutations,
		pace:     pace{patience: patience},
		backlog:  changelog.Backlog{EveryDeletion: config.EveryDeletion},
	}
}

// Synced returns a channel that is closed when the initial objects are delivered.
func (s *Subscription) Synced() <-chan struct{} { return s.synced }

// HasSynced reports whether Synced is closed.
func (s *Subscription) HasSynced() bool { return closed(s.synced) }

// startReplayLocked adds a replay of the first objects of a stream. No change that waits has one of
// their keys.
func (s *Subscription) startReplayLocked(r replay) {
	if !s.removed {
		s.replays = append(s.replays, r)
	}
}

// initialLocked returns how many objects are left to replay.
func (s *Subscription) initialLocked() int {
	n := -s.replayed
	for _, r := range s.replays {
		n += r.objects().Len()
	}
	return n
}

// waitingLocked returns how many changes wait in the log.
func (s *Subscription) waitingLocked() int { return int(s.logged.Load() - s.took) }

// nextLocked takes the next change out of the backlog, or else out of the log, into s.running. It
// reports whether there was one.
func (s *Subscription) nextLocked() bool {
	if s.backlog.Len() > 0 {
		s.running, _ = s.backlog.Next()
		return true
	}
	if !s.readLocked() {
		return false
	}
	next, _ := s.log.Next()
	s.running = *next
	s.log.Pass()
	s.tookLocked()
	return true
}

// readLocked reports whether changes wait in the log. If so, s.log has them.
func (s *Subscription) readLocked() bool {
	if s.log.Len() == 0 && s.waitingLocked() > 0 {
		s.log = s.informer.pool.fetch(s)
	}
	return s.log.Len() > 0
}
