// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Subscription is one handler of one informer and its position: first in a version that is replayed, then in the log,
// under a cursor. While it lags too far behind, the waiting part of the log is merged into a backlog.
type Subscription struct {
	// set once at construction
	informer *Informer
	handler  Handler
	config   HandlerConfig
	synced   chan struct{} // closed when the initial objects are delivered
	epoch    time.Time     // Informer.epoch; here because the informer's memory is written all the time
	detector *mutation.Detector

	after *Subscription // the next one that is ready; crew.mu guards it, or whoever makes the queue

	// The turn guards what follows: one goroutine at a time has it.
	told     bool                    // synced is closed
	crashing bool                    // a panic leaves the goroutine
	recorder metrics.HandlerRecorder // of the run; nil without metrics
	timer    *time.Timer             // of the run; nil if there is no resync

	goroutine atomic.Uint64 // the one that has the turn, or had it last

	// mu guards what follows. Lock order: after Informer.mu, before crew.mu.
	mu       sync.Mutex
	crew     *crew         // of the run that was opened and has not ended; else nil
	busy     bool          // the turn has begun, or is ready to begin, or the subscription's part in the run is over
	due      bool          // for a resync
	replays  []replay      // what comes before everything else
	replayed int           // how many objects of replays[0] were delivered or skipped
	head     change        // comes next; of kind 0 if there is none
	headAt   time.Duration // when it was published, after Informer.epoch
	prompt   bool          // head, when it was published, was all that there was to do
	cursor   *node         // has the next change, if behind > 0 and backlog is empty
	index    int           // of the next change in cursor
	behind   int           // changes from there to the end of the log
	backlog  backlog       // what waits from before cursor
	removed  bool
	// about the running callback
	calling  bool
	kind     kind
	old, new object.Object
	since    time.Duration // after epoch
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
		s.replays, s.replayed, s.head, s.cursor, s.behind, s.backlog = nil, 0, change{}, nil, 0, backlog{}
		s.beReadyLocked() // a last turn, which ends what belongs to the run
	}
	if !s.calling || s.goroutine.Load() == goroutineID() {
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// --- called when publishing, with Informer.mu held ---

// takeLocked takes a change if nothing else waits, so that it needs no place in the log.
func (s *Subscription) takeLocked(c *change, at time.Duration) bool {
	if s.head.kind != 0 || s.behind > 0 || !s.backlog.empty() || s.config.Threshold == 0 {
		return false
	}
	s.head, s.headAt, s.prompt = *c, at, !s.busy
	return true
}

// advanceLocked says that the log has grown by a node, which was the end.
func (s *Subscription) advanceLocked(filled *node) {
	if s.behind == 0 {
		s.cursor, s.index = filled, 0
	}
	s.behind += len(filled.changes)
	if !s.backlog.empty() || s.config.Threshold != Never && s.waitingLocked() > s.config.Threshold {
		s.mergeLocked()
	}
}

// waitingLocked counts what waits in the order of the log.
func (s *Subscription) waitingLocked() int {
	if s.head.kind != 0 {
		return s.behind + 1
	}
	return s.behind
}

// mergeLocked moves everything that waits to the backlog.
func (s *Subscription) mergeLocked() {
	if s.head.kind != 0 {
		s.backlog.add(&s.head, s.headAt)
		s.head, s.prompt = change{}, false
	}
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

// readyLocked puts the subscription into a queue for its turn, unless it has it or is in a queue already.
func (s *Subscription) readyLocked(q *queue) {
	if !s.busy && s.crew != nil {
		s.busy = true
		q.push(s)
	}
}

// beReadyLocked is readyLocked for one subscription.
func (s *Subscription) beReadyLocked() {
	var q queue
	if s.readyLocked(&q); q.first != nil {
		s.crew.add(q)
	}
}

// --- called by who has the turn ---

// nextLocked takes what should be delivered next out of the head, the backlog or the log.
func (s *Subscription) nextLocked() (c change, ok bool) {
	if s.head.kind != 0 {
		c, s.head = s.head, change{}
		return c, true
	}
	s.prompt = false
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

// startLocked notes which callback is about to run.
func (s *Subscription) startLocked(c *change) {
	s.calling, s.kind, s.old, s.new = true, c.kind, c.old, c.new
	if s.prompt {
		s.prompt, s.since = false, s.headAt // an event that comes alone needs no look at the clock for each handler
		return
	}
	s.since = time.Since(s.epoch)
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
