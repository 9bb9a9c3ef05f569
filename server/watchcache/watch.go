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

// WatchOptions are the settings of a watch. The zero value watches everything from now on.
type WatchOptions struct {
	Filter Filter
	// After is the version after which the events begin; 0 means the cache's version. A version
	// that the cache hasn't reached is fine: events begin when it is passed.
	After uint64
	// InitialEvents makes the watch begin with the objects that the filter selects, as Added events
	// in the order of their keys. They are of a version that isn't older than After, and Watch
	// waits for it.
	InitialEvents bool
	// InitialEnd asks for the bookmark that ends initial events, without the events. It is for a
	// caller that sends them by itself, from a list at After, and then what the watch gets. The
	// bookmark comes when the watch has had all changes up to the version at which the cache is
	// when the watch begins. A version that the cache hasn't reached expires: the storage has gone
	// back since that list.
	InitialEnd bool
	// Bookmarks asks for bookmarks: one after the initial events, one at each interval, and one
	// two seconds before the timeout. All but the first are left out while the cache's version has
	// not passed the one at which the watch began.
	Bookmarks bool
	// Timeout is when the watch ends with io.EOF; 0 means never.
	Timeout time.Duration
	// Format writes the events' frames; nil for events without frames.
	Format Format

	// Receive gets the events, if it isn't nil: [Watcher.Next] must not be called then. Workers of
	// the cache call it, one at a time, with at least one event, or with an error once at the end.
	// It must neither block nor keep the slice. It returns false to get no more until
	// [Watcher.Ready] is called: the events that it was called with are its own nevertheless. It
	// may be called before Watch has returned.
	Receive func(events []Event, err error) bool
}

// Watcher is an open watch. [Cache.Watch] makes one.
type Watcher struct {
	// set once at construction
	c       *Cache
	filter  *filter
	encoder *encoder // nil: no frames
	receive func([]Event, error) bool
	wake    chan struct{} // without receive: has a token when there may be something to read
	began   uint64        // only later changes are of interest

	// at is the last change that was read; nil while the watcher is asleep, because it has read all
	// that concerns it. Who wakes it holds mu of the cache. A watcher that is awake has one
	// goroutine that reads, which writes at.
	at      atomic.Pointer[change]
	ended   atomic.Pointer[error] // why it has ended; nil while it hasn't
	marked  atomic.Bool           // a bookmark is due; mu of the cache is held to change it
	flow    atomic.Uint32         // whether receive wants more: flowing, blocked or resumed
	pending *pendingEvents        // used by the goroutine that reads; nil: sent
	endAt   uint64                // where the caller's initial events end; used likewise; 0: ended

	// mu of the cache guards what follows
	bucketIndex int
	interval    time.Duration // of bookmarks; 0: none
	deadline    time.Duration // since the cache was made; 0: none
	alarm       time.Duration // when the clock does something about it; 0: never
	alarmIndex  int
}

const (
	flowing uint32 = iota
	blocked        // receive has returned false
	resumed        // Ready was called while receive was running
)

// pendingEvents is what is left of the events that come before those of the log.
type pendingEvents struct {
	missed []Event // by a watch that was too slow

	// initial events:
	state objectSet
	from  string // the key of the next object, or less
	mark  bool   // a bookmark ends them
}

// errClosed is why a watcher has ended that was closed.
var errClosed = errors.New("the watch was closed")

// Watch starts a watch, which must be closed. Its ctx is for the time that Watch waits. Errors are
// those of WaitUntilFresh, an [ExpiredError] if the log doesn't have all changes after After, and
// one if the filter's Shard is malformed.
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
		if _, err := c.fresh(ctx, o.After); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.unlock()
	now := c.head.Load()
	if now == nil {
		return nil, c.notReadyLocked()
	}
	w.began = now.version
	if o.InitialEnd {
		w.endAt = now.version
	}
	at := c.log.last()
	switch {
	case o.InitialEvents:
		w.pending = &pendingEvents{state: now.state, mark: o.Bookmarks}
	case o.InitialEnd && o.After > now.version: // the list was of a history that there is no more
		return nil, &ExpiredError{Version: o.After, Oldest: c.log.oldest()}
	case o.After >= now.version:
		w.began = o.After
	case o.After != 0:
		if err := c.log.check(o.After); err != nil {
			return nil, err
		}
		w.began, at = o.After, c.log.through(o.After)
	}
	w.encoder = c.encoderLocked(o.Format)
	c.interests.add(w)
	c.open++
	c.setAlarmLocked(w, o)
	c.wakeLocked(w, at)
	return w, nil
}

// Version returns the version at which the watch began: that of its initial events, if it has some.
func (w *Watcher) Version() uint64 { return w.began }

// Next returns the next events, at least one. It waits for them. Once the watch has ended it
// returns why: io.EOF after its timeout and after Close, an [ExpiredError] if it has been too slow,
// or a [NotReadyError] if the cache has stopped. If ctx ends it returns the cause, and may be
// called again. Next must be called by one goroutine at a time, and only if the watch has no
// Receive function.
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

// Finish makes the watch end soon, as its timeout does: with a bookmark, if it has some, and with
// io.EOF two seconds later.
func (w *Watcher) Finish() {
	w.c.mu.Lock()
	defer w.c.unlock()
	if w.ended.Load() == nil {
		w.c.finishLocked(w)
	}
}

// Close ends the watch, and forgets it. It does not wait for a call of Receive that is under way or
// about to be made. Closing twice is fine.
func (w *Watcher) Close() {
	w.c.mu.Lock()
	defer w.c.unlock()
	w.c.endLocked(w, closed, errClosed)
}

// wakeLocked makes a watcher that is asleep read the log behind a change.
func (c *Cache) wakeLocked(w *Watcher, at *change) {
	if w.at.Load() != nil {
		return
	}
	w.at.Store(at)
	c.callLocked(w)
}

// callLocked gets the goroutine that reads a watcher to do so.
func (c *Cache) callLocked(w *Watcher) {
	if w.receive != nil {
		c.woken = append(c.woken, w)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// endLocked ends a watcher, unless it has ended, and forgets it. The goroutine that reads it learns
// why.
func (c *Cache) endLocked(w *Watcher, why endReason, err error) {
	if !w.ended.CompareAndSwap(nil, &err) {
		return
	}
	c.ended[why]++
	c.interests.remove(w)
	c.releaseLocked(w.encoder)
	c.open--
	c.clock.remove(w)
	if w.at.CompareAndSwap(nil, c.log.last()) || w.receive == nil || w.flow.CompareAndSwap(blocked, flowing) {
		c.callLocked(w)
	}
}
