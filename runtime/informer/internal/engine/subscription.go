// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Subscription is one handler of one informer and its position: first in a version that is
// replayed, then in the log. While it is slow, what waits in the log is merged into a backlog.
// While nothing waits for it, a change that comes alone doesn't need the log: it is handed over as
// the head.
type Subscription struct {
	// set once at construction
	informer *Informer
	handler  Handler
	config   HandlerConfig
	synced   chan struct{} // closed when the initial objects are delivered
	epoch    time.Time     // Informer.epoch, whose memory is written all the time
	detector *mutation.Detector

	// The turn guards what follows: one goroutine at a time has it.
	told     bool                    // synced is closed
	crashing bool                    // a panic leaves the goroutine
	recorder metrics.HandlerRecorder // of the run; nil without metrics
	timer    *time.Timer             // of the run; nil if there is no resync

	slot slot // pool.mu guards it

	// What waits in the log is logged less took. pool.mu guards writes of logged, mu those of
	// taken.
	logged atomic.Int64 // changes that were given to it by way of the log
	// took, or up to tookPerStore less: a store takes as long as half a delivery
	taken atomic.Int64
	slow  atomic.Bool // what waits is merged: see pace; mu guards writes of it, anyone reads it

	// mu guards what follows. Lock order: after Informer.mu, before pool.mu.
	mu       sync.Mutex
	due      bool     // for a resync
	replays  []replay // what comes before everything else, except for a head
	replayed int      // how many objects of replays[0] were delivered or skipped
	backlog  backlog  // what waits from before the log
	log      stretch  // what waits in the log, and is not in slot.tail
	took     int64    // of logged: delivered, merged into the backlog, or dropped
	removed  bool     // slot.removed is too
	pace     pace
	// about the running callback, unless that is about a head
	calling  bool
	returned bool // a callback has
	kind     kind
	old, new object.Object
	since    time.Duration // after epoch; of quick ones, when an earlier one of the turn began
	inTurn   bool          // since is of this turn
	looks    int           // how many callbacks until the next look at the clock
	reported reported
	idle     chan struct{} // if not nil, closed when the callback has returned
}

// replay is objects that are delivered as initial ones: a namespace of a version, or all of it for
// "".
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
		pace:     pace{patience: patience},
	}
}

// Synced returns a channel that is closed when the initial objects are delivered.
func (s *Subscription) Synced() <-chan struct{} { return s.synced }

// HasSynced reports whether Synced is closed.
func (s *Subscription) HasSynced() bool { return closed(s.synced) }

// Remove ends the subscription and waits for its running callback, unless that callback calls it.
func (s *Subscription) Remove() {
	if returned := s.remove(); returned != nil {
		<-returned
		s.informer.forget(s)
	}
}

// RemoveContext does what Remove does, and waits until ctx is done at most; then the error names
// the callback.
func (s *Subscription) RemoveContext(ctx context.Context) error {
	fail := func(err error) error {
		return fmt.Errorf("informer %s: RemoveContext: %w", s.informer.config.Name, err)
	}
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	returned := s.remove()
	if returned == nil {
		return nil
	}
	select {
	case <-returned:
	default:
		select {
		case <-returned:
		case <-ctx.Done():
			if running := s.Status().running(s.informer); running != "" {
				return fail(fmt.Errorf("%w: %s", context.Cause(ctx), running))
			}
		}
	}
	s.informer.forget(s)
	return nil
}

// remove ends the subscription, and returns a channel that is closed when the running callback has
// returned. If there is nothing to wait for, it returns nil, and the informer has forgotten it;
// else the last turn has the informer forget it, so that others see what is running until then.
func (s *Subscription) remove() <-chan struct{} {
	s.mu.Lock()
	returned := s.removeLocked()
	s.mu.Unlock()
	if returned == nil {
		s.informer.forget(s)
	}
	return returned
}

// forgetRemoved has the informer forget the subscription if it was removed.
func (s *Subscription) forgetRemoved() {
	s.mu.Lock()
	removed := s.removed
	s.mu.Unlock()
	if removed {
		s.informer.forget(s)
	}
}

// removeLocked has no callback begin from then on: what takes the turn looks at removed in the
// section of mu in which a callback begins, and the pool looks at its own in the section in which
// it begins to tell a head.
func (s *Subscription) removeLocked() (returned <-chan struct{}) {
	s.removed = true
	s.replays, s.replayed, s.log, s.backlog = nil, 0, stretch{}, backlog{}
	told, goroutine := s.informer.pool.remove(s)
	s.goOnLocked()
	if !s.calling && !told || goroutine == goroutineID() {
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// startReplayLocked says that a stream has its first objects. Nothing that waits is about their
// keys.
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

// --- called by who has the turn ---

// nextLocked takes what should be delivered next out of the backlog or the log.
func (s *Subscription) nextLocked() (c change, ok bool) {
	if c, ok = s.backlog.next(); ok || !s.readLocked() {
		return c, ok
	}
	next, _ := s.log.next()
	c = *next
	s.log.pass()
	s.tookLocked()
	return c, true
}

// readLocked reports whether anything waits in the log. If so, s.log has it.
func (s *Subscription) readLocked() bool {
	if s.log.left == 0 && s.waitingLocked() > 0 {
		s.log = s.informer.pool.fetch(s)
	}
	return s.log.left > 0
}

// A look at the clock takes as long as everything else about a delivery. So while callbacks are
// quick, one look stands for this many of them, unless metrics want to know how long each takes.
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

// restLocked notes that nothing waits.
func (s *Subscription) restLocked() {
	s.looks, s.inTurn = 0, false
	s.caughtUpLocked()
}

// finishLocked notes that it has returned.
func (s *Subscription) finishLocked() {
	s.returned = s.returned || s.calling
	s.calling, s.old, s.new = false, nil, nil
	if s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// goroutineID returns the number of the calling goroutine, by which Remove finds out that it is
// called from the callback that it would wait for. Only the first line of a stack trace has it.
func goroutineID() uint64 {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)]
	head, _, _ = bytes.Cut(bytes.TrimPrefix(head, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseUint(string(head), 10, 64)
	return id
}
