// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// WatchOptions configure a watch. The zero value watches everything from now on.
type WatchOptions struct {
	Filter Filter
	// After is the version after which the events begin; 0 means the cache's version. It may be a
	// future version.
	After uint64
	// InitialEvents makes the watch begin with the selected objects, as Added events in key order.
	// Watch waits until the cache has reached After, and sends the objects at that version or a
	// newer one.
	InitialEvents bool
	// InitialEnd asks for the bookmark that ends initial events, without the events. The caller
	// sends them itself, from a list at After. The bookmark comes after all changes up to the
	// cache's version when the watch begins. Watch returns an [ExpiredError] if the cache hasn't
	// reached After: the storage has gone back since that list.
	InitialEnd bool
	// Bookmarks asks for bookmarks: one after the initial events, one at each interval, and one two
	// seconds before the timeout. All but the first are omitted while the cache is still at the
	// version the watch began at.
	Bookmarks bool
	// Timeout is the time until the watch ends with io.EOF; 0 means never.
	Timeout time.Duration
	// Format encodes the events' frames; nil means no frames.
	Format Format

	// Receive, if not nil, is called with the events, and [Watcher.Next] must not be. Workers of
	// the cache call it, one at a time, with at least one event, or with an error once at the end.
	// It must neither block nor keep the slice. It may be called before Watch has returned.
	// Returning false stops further calls until [Watcher.Ready]; the events of that call still
	// count as received.
	Receive func(events []Event, err error) bool
}

// Watcher is an open watch. [Cache.Watch] makes one.
type Watcher struct {
	// set once at construction
	c            *Cache
	filter       *filter
	encoder      *encoder // nil: no frames
	receive      func([]Event, error) bool
	wake         chan struct{} // without receive: has a token when there may be more to read
	startVersion uint64        // only later changes matter

	// position is the last change read; nil while the watcher is asleep, having read every change
	// that concerns it. It is woken under the cache's mu. While awake it is read by one goroutine,
	// which owns position.
	position    atomic.Pointer[change]
	ended       atomic.Pointer[error] // reason for the end; nil while open
	bookmarkDue atomic.Bool           // changed under the cache's mu
	flow        atomic.Uint32         // whether receive wants more: flowing, blocked or resumed
	pending     *pendingEvents        // used by the reading goroutine; nil: all sent
	initialEnd  uint64                // last version of the initial events; used likewise; 0: ended

	// the cache's mu guards what follows
	bucketIndex int
	interval    time.Duration // of bookmarks; 0: none
	deadline    time.Duration // since the cache was made; 0: none
	alarm       time.Duration // next time for the clock to act; 0: never
	alarmIndex  int
}

const (
	flowing uint32 = iota
	blocked        // receive has returned false
	resumed        // Ready was called while receive was running
)

// pendingEvents are undelivered events that precede the log's.
type pendingEvents struct {
	missed []Event // missed by a slow watch

	// initial events:
	state           objectSet
	from            string // key of the next object, or a lower one
	closingBookmark bool   // a bookmark ends them
}

var errClosed = errors.New("the watch was closed")

// Watch starts a watch, which must be closed. ctx limits only Watch's own wait. Errors are those of
// WaitUntilFresh, an [ExpiredError] if the log lacks changes after After, and an error if the
// filter's Shard is malformed.
func (c *Cache) Watch(ctx context.Context, o WatchOptions) (*Watcher, error) {
	f, err := o.Filter.compile()
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	w := &Watcher{c: c, filter: f, receive: o.Receive}
	if o.Receive == nil {
		w.wake = make(chan struct{}, 1)
	}
	if o.InitialEvents {
		if _, err := c.freshHead(ctx, o.After); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.unlock()
	now := c.head.Load()
	if now == nil {
		return nil, c.notReadyLocked()
	}
	w.startVersion = now.version
	if o.InitialEnd {
		w.initialEnd = now.version
	}
	at := c.log.last()
	switch {
	case o.InitialEvents:
		w.pending = &pendingEvents{state: now.state, closingBookmark: o.Bookmarks}
	case o.InitialEnd && o.After > now.version: // the list belongs to a lost history
		return nil, &ExpiredError{Version: o.After, Oldest: c.log.oldest()}
	case o.After >= now.version:
		w.startVersion = o.After
	case o.After != 0:
		if err := c.log.check(o.After); err != nil {
			return nil, err
		}
		w.startVersion, at = o.After, c.log.changeAt(o.After)
	}
	w.encoder = c.encoderLocked(o.Format)
	c.interests.add(w)
	c.openWatchers++
	c.setAlarmLocked(w, o)
	c.wakeLocked(w, at)
	return w, nil
}

// Version returns the version the watch began at, also that of its initial events.
func (w *Watcher) Version() uint64 { return w.startVersion }

// Next waits for the next events and returns them, at least one. Once the watch has ended it
// returns the reason: io.EOF after its timeout and after Close, an [ExpiredError] if it was too
// slow, or a [NotReadyError] if the cache has stopped. If ctx ends it returns the cause, and may be
// called again. Next must be called by one goroutine at a time, and only without a Receive
// function.
func (w *Watcher) Next(ctx context.Context) ([]Event, error) {
	for {
		events, err := w.read(nil)
		if errors.Is(err, errClosed) {
			err = io.EOF
		}
		if len(events) > 0 || err != nil {
			w.c.sent.Add(int64(len(events)))
			return events, err
		}
		w.c.sleep([]*Watcher{w})
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Ready makes the cache call Receive again, after it has returned false.
func (w *Watcher) Ready() {
	for {
		switch w.flow.Load() {
		case resumed:
			return
		case blocked:
			if w.flow.CompareAndSwap(blocked, flowing) {
				w.c.ready.push([]*Watcher{w})
				return
			}
		default:
			if w.flow.CompareAndSwap(flowing, resumed) {
				return
			}
		}
	}
}

// Finish makes the watch end soon, as at its timeout: with a bookmark, if it wants bookmarks, and
// with io.EOF two seconds later.
func (w *Watcher) Finish() {
	w.c.mu.Lock()
	defer w.c.unlock()
	if w.ended.Load() == nil {
		w.c.finishLocked(w)
	}
}

// Close ends the watch. It does not wait for a call of Receive that is under way or about to begin.
// Closing twice is fine.
func (w *Watcher) Close() {
	w.c.mu.Lock()
	defer w.c.unlock()
	w.c.endLocked(w, endClosed, errClosed)
}

func (c *Cache) wakeLocked(w *Watcher, at *change) {
	if w.position.Load() != nil {
		return
	}
	w.position.Store(at)
	c.signalLocked(w)
}

func (c *Cache) signalLocked(w *Watcher) {
	if w.receive != nil {
		c.woken = append(c.woken, w)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// endLocked ends a watcher, unless it has ended already, and removes it. Its reading goroutine gets
// err.
func (c *Cache) endLocked(w *Watcher, why endReason, err error) {
	if !w.ended.CompareAndSwap(nil, &err) {
		return
	}
	c.ended[why]++
	c.interests.remove(w)
	c.releaseLocked(w.encoder)
	c.openWatchers--
	c.clock.remove(w)
	if w.position.CompareAndSwap(nil, c.log.last()) || w.receive == nil || w.flow.CompareAndSwap(blocked, flowing) {
		c.signalLocked(w)
	}
}
