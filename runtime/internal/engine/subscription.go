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

// Subscription is one handler of one informer, and how far it has come: first a version to replay, then the log, under
// a cursor, or, while it lags too far, what waits of the log merged into a backlog.
type Subscription struct {
	// set once at construction
	informer *Informer
	handler  Handler
	config   HandlerConfig
	synced   chan struct{} // closed when the initial objects are delivered
	gone     chan struct{} // closed by the first Remove
	news     chan struct{} // holds a token when there may be something to do
	epoch    time.Time     // a clock reading relative to another costs half of an absolute one

	crashing bool // a panic is on its way out of the goroutine that delivers, which is the one that uses this

	// mu guards what follows
	mu       sync.Mutex
	replay   *table.Version // nil if there is nothing to replay
	replayed int            // objects of replay that were passed, in its order
	initial  bool           // a replay was finished
	cursor   *node          // where the next change is, if backlog is empty
	index    int            // in cursor
	behind   int            // changes from there to the end of the log
	backlog  backlog        // of what is before cursor
	removed  bool
	// of the callback that runs
	calling   bool
	kind      kind
	key       object.Key
	since     time.Duration // after epoch
	goroutine uint64        // that delivers, also between callbacks
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

// Remove ends the subscription and waits for its callback, unless it is called by that.
func (s *Subscription) Remove() {
	s.informer.forget(s)
	if idle := s.remove(); idle != nil {
		<-idle
	}
}

// remove returns nil, or what is closed when the callback that runs has returned.
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

// --- for the one who publishes; he holds the informer's mu ---

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

// --- for the goroutine that delivers ---

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

// startLocked notes which callback runs.
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

// goroutineID tells whether Remove is called by the callback that it would have to wait for. Nothing but the head of a
// stack trace says it.
func goroutineID() uint64 {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)]
	head, _, _ = bytes.Cut(bytes.TrimPrefix(head, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseUint(string(head), 10, 64)
	return id
}
