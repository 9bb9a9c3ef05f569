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
// under a cursor. While it lags too far behind, the waiting part of the log is merged into a backlog.
type Subscription struct {
	// set once at construction
	informer *Informer
	handler  Handler
	config   HandlerConfig
	synced   chan struct{} // closed when the initial objects are delivered
	gone     chan struct{} // closed by the first Remove
	news     chan struct{} // holds a token when there may be something to do
	epoch    time.Time     // Informer.epoch; here because the informer's memory is written all the time
	detector *mutation.Detector

	// The delivering goroutine guards what follows.
	crashing bool                    // a panic leaves it
	recorder metrics.HandlerRecorder // nil without metrics

	// mu guards what follows. Lock order: after Informer.mu.
	mu       sync.Mutex
	replays  []replay // what comes before everything else
	replayed int      // how many objects of replays[0] were delivered or skipped
	cursor   *node    // has the next change, if backlog is empty
	index    int      // of the next change in cursor
	behind   int      // changes from there to the end of the log
	backlog  backlog  // what waits from before cursor
	removed  bool
	// about the running callback
	calling   bool
	kind      kind
	key       object.Key
	since     time.Duration // after epoch
	goroutine uint64        // the one that delivers, also between callbacks
	idle      chan struct{} // if not nil, closed when the callback has returned
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
		gone:     make(chan struct{}),
		news:     make(chan struct{}, 1),
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
		close(s.gone)
		s.replays, s.replayed, s.cursor, s.behind, s.backlog = nil, 0, nil, 0, backlog{}
	}
	if !s.calling || s.goroutine == goroutineID() {
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// --- called when publishing, with Informer.mu held ---

// advance says that the log has n more changes and ends at end.
func (s *Subscription) advance(n int, end *node) {
	s.mu.Lock()
	if s.removed {
		s.mu.Unlock()
		return
	}
	s.behind += n
	if !s.backlog.empty() || s.config.Threshold != Never && s.behind > s.config.Threshold {
		s.mergeLocked(end)
	}
	s.mu.Unlock()
	s.wake()
}

// mergeLocked moves everything up to end from the log to the backlog.
func (s *Subscription) mergeLocked(end *node) {
	for ; s.cursor != end; s.cursor, s.index = s.cursor.next, 0 {
		for n := s.index; n < len(s.cursor.changes); n++ {
			s.backlog.add(&s.cursor.changes[n], s.cursor.at)
		}
	}
	s.behind = 0
}

// startReplay says that a stream has its first objects. Nothing that waits is about their keys.
func (s *Subscription) startReplay(r replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed {
		s.replays = append(s.replays, r)
	}
}

func (s *Subscription) wake() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// --- called by the delivering goroutine ---

// nextLocked takes what should be delivered next out of the backlog or the log.
func (s *Subscription) nextLocked() (c change, ok bool) {
	if c, ok = s.backlog.next(); ok {
		return c, true
	}
	if s.behind == 0 {
		return c, false
	}
	c = s.cursor.changes[s.index]
	s.behind--
	if s.index++; s.index == len(s.cursor.changes) {
		s.cursor, s.index = s.cursor.next, 0
	}
	return c, true
}

// startLocked notes which callback is about to run.
func (s *Subscription) startLocked(c *change) {
	s.calling, s.kind, s.key, s.since = true, c.kind, c.key(), time.Since(s.epoch)
}

// finish notes that it has returned. It says how long that took if there are metrics.
func (s *Subscription) finish() (took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calling = false
	if s.recorder != nil {
		took = time.Since(s.epoch) - s.since
	}
	if s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
	return took
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
