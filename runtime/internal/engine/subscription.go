// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
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
	epoch    time.Time     // what since counts from: time.Since costs half of time.Now

	crashing bool // a panic leaves the delivering goroutine, which alone uses this

	// mu guards what follows. Lock order: after Informer.mu.
	mu       sync.Mutex
	replay   *table.Version // nil if there is nothing to replay
	replayed int            // how many objects of replay were delivered or skipped
	initial  bool           // a replay was finished
	cursor   *node          // has the next change, if backlog is empty
	index    int            // of the next change in cursor
	behind   int            // changes from there to the end of the log
	backlog  backlog        // what waits from before cursor
	removed  bool
	// about the running callback
	calling   bool
	kind      kind
	key       object.Key
	since     time.Duration // after epoch
	goroutine uint64        // the one that delivers, also between callbacks
	idle      chan struct{} // if not nil, closed when the callback has returned
}

func newSubscription(i *Informer, h Handler, config HandlerConfig) *Subscription {
	return &Subscription{
		informer: i,
		handler:  h,
		config:   config,
		synced:   make(chan struct{}),
		gone:     make(chan struct{}),
		news:     make(chan struct{}, 1),
		epoch:    time.Now(),
	}
}

// Synced returns a channel that is closed when the initial objects are delivered.
func (s *Subscription) Synced() <-chan struct{} { return s.synced }

// HasSynced says whether Synced is closed.
func (s *Subscription) HasSynced() bool { return closed(s.synced) }

// Remove ends the subscription and waits for its running callback, unless that callback calls it.
func (s *Subscription) Remove() {
	s.informer.forget(s)
	if idle := s.remove(); idle != nil {
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
		s.replay, s.cursor, s.behind, s.backlog = nil, nil, 0, backlog{}
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
			s.backlog.add(&s.cursor.changes[n])
		}
	}
	s.behind = 0
}

func (s *Subscription) startReplay(v *table.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replay = v
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

// finish notes that it has returned.
func (s *Subscription) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calling = false
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
