// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Subscription is one handler of one informer and its position: first in a version that is replayed, then in the log,
// under a cursor. While it lags too far behind, the waiting part of the log is merged into a backlog. While nothing waits for
// it, an event that comes alone doesn't need the log: it is handed over as the head.
type Subscription struct {
	// set once at construction
	informer *Informer
	handler  Handler
	config   HandlerConfig
	synced   chan struct{} // closed when the initial objects are delivered
	epoch    time.Time     // Informer.epoch; here because the informer's memory is written all the time
	detector *mutation.Detector

	// The turn guards what follows: one goroutine at a time has it.
	told     bool                    // synced is closed
	crashing bool                    // a panic leaves the goroutine
	recorder metrics.HandlerRecorder // of the run; nil without metrics
	timer    *time.Timer             // of the run; nil if there is no resync
	left     bool                    // its part in the run is over
	inTurn   bool                    // since is of this turn
	looks    int                     // how many callbacks until the next look at the clock

	handed bool // the change that is being published was handed to it; Informer.mu guards it

	place place // crew.mu guards it

	// mu guards what follows. Lock order: after Informer.mu, before crew.mu.
	mu       sync.Mutex
	due      bool     // for a resync
	replays  []replay // what comes before everything else, except for a head
	replayed int      // how many objects of replays[0] were delivered or skipped
	cursor   *node    // has the next change, if behind > 0 and backlog is empty
	index    int      // of the next change in cursor
	behind   int      // changes from there to the end of the log
	backlog  backlog  // what waits from before cursor
	removed  bool
	// about the running callback, unless that is about a head
	calling  bool
	kind     kind
	old, new object.Object
	since    time.Duration // after epoch; of quick ones, when an earlier one of the turn began
	idle     chan struct{} // if not nil, closed when the callback has returned
}

// replay is objects that are delivered as initial ones: a namespace of a version, or all of it for "".
type replay struct {
	version   *table.Version
	namespace string
	at        time.Duration // when it began to wait, after Informer.epoch
}

func (r replay) objects() table.Set { return r.version.Namespace(r.namespace) }

func newSubscription(i *Informer, h Handler, config HandlerConfig) *Subscription {
	return &Subscription{
		informer: i,
		handler:  h,
		config:   config,
		synced:   make(chan struct{}),
		epoch:    i.epoch,
		place:    place{busy: true}, // until it joins the crew
		detector: i.config.Mutations,
	}
}

// Synced returns a channel that is closed when the initial objects are delivered.
func (s *Subscription) Synced() <-chan struct{} { return s.synced }

// HasSynced says whether Synced is closed.
func (s *Subscription) HasSynced() bool { return closed(s.synced) }

// Remove ends the subscription and waits for its running callback, unless that callback calls it.
func (s *Subscription) Remove() {
	idle := s.remove()
	s.informer.forget(s) // not earlier: what is published from then on does not reach s, which would not know that it lags
	if idle != nil {
		<-idle
	}
}

// remove returns a channel that is closed when the running callback has returned; nil if there is nothing to wait for.
func (s *Subscription) remove() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed {
		s.removed = true
		s.replays, s.replayed, s.cursor, s.behind, s.backlog = nil, 0, nil, 0, backlog{}
	}
	c := s.informer.crew
	c.mu.Lock()
	if s.place.state == headWaits {
		s.place.clear()
	}
	calling, goroutine := s.calling || s.place.state == headTold, s.place.goroutine
	c.mu.Unlock()
	c.notify(s) // a last turn, which ends what belongs to the run, and sees idle
	if !calling || goroutine == goroutineID() {
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// --- called when publishing, with Informer.mu held ---

// advanceLocked says that the log has grown by a node, which was the end.
func (s *Subscription) advanceLocked(filled *node) {
	if s.behind == 0 {
		s.cursor, s.index = filled, 0
	}
	s.behind += len(filled.changes)
	if !s.backlog.empty() || s.config.Threshold != Never && s.waitingLocked() > s.config.Threshold {
		s.takeBackLocked(filled.next)
		s.mergeLocked()
	}
}

// waitingLocked counts what waits in the order of the log.
func (s *Subscription) waitingLocked() int {
	if state, _, _ := s.headLocked(); state == headWaits {
		return s.behind + 1
	}
	return s.behind
}

// headLocked returns the head.
func (s *Subscription) headLocked() (headState, change, time.Duration) {
	c := s.informer.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.place.state, s.place.head, s.place.headAt
}

// takeBackLocked puts a head that waits back into the log, whose end is given: a node of its own comes before the others.
func (s *Subscription) takeBackLocked(end *node) {
	c := s.informer.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.place.state != headWaits {
		return
	}
	if s.behind > 0 {
		end = s.cursor // from its beginning: nothing was read since the head was handed over
	}
	n := &node{at: s.place.headAt, next: end, one: [1]change{s.place.head}}
	n.changes = n.one[:]
	s.cursor, s.index = n, 0
	s.behind++
	s.place.clear()
	s.place.more = true
}

// mergeLocked moves everything that waits to the backlog.
func (s *Subscription) mergeLocked() {
	for s.behind > 0 {
		s.backlog.add(&s.cursor.changes[s.index], s.cursor.at)
		s.passLocked()
	}
}

// startReplayLocked says that a stream has its first objects. Nothing that waits is about their keys.
func (s *Subscription) startReplayLocked(r replay) {
	if !s.removed {
		s.replays = append(s.replays, r)
	}
}

// --- called by who has the turn ---

// nextLocked takes what should be delivered next out of the backlog or the log.
func (s *Subscription) nextLocked() (c change, ok bool) {
	if c, ok = s.backlog.next(); ok {
		return c, true
	}
	if s.behind == 0 {
		return c, false
	}
	c = s.cursor.changes[s.index]
	s.passLocked()
	return c, true
}

// passLocked moves the cursor by one change. It keeps no node that was read to the end.
func (s *Subscription) passLocked() {
	s.behind--
	if s.index++; s.index == len(s.cursor.changes) {
		s.cursor, s.index = s.cursor.next, 0
	}
	if s.behind == 0 {
		s.cursor = nil
	}
}

// A look at the clock takes as long as everything else about a delivery. So while callbacks are quick, one look stands for this
// many of them, unless metrics want to know how long each takes.
const (
	callbacksPerLook = 16
	quick            = time.Millisecond // what as many may take, at least
)

// startLocked notes which callback is about to run, and since when.
func (s *Subscription) startLocked(c *change) time.Duration {
	s.calling, s.kind, s.old, s.new = true, c.kind, c.old, c.new
	if s.looks--; s.looks > 0 {
		return s.since
	}
	now := time.Since(s.epoch)
	if s.inTurn && now-s.since < quick && s.recorder == nil {
		s.looks = callbacksPerLook
	}
	s.inTurn, s.since = true, now
	return now
}

// finishLocked notes that it has returned.
func (s *Subscription) finishLocked() {
	s.calling, s.old, s.new = false, nil, nil
	if s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// goroutineID returns the number of the calling goroutine, by which Remove finds out that it is called from the callback
// that it would wait for. Only the first line of a stack trace has it.
func goroutineID() uint64 {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)]
	head, _, _ = bytes.Cut(bytes.TrimPrefix(head, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseUint(string(head), 10, 64)
	return id
}
