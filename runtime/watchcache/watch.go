// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"errors"
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
	c        *Cache
	filter   *filter
	format   Format
	receive  func([]Event, error) bool
	wake     chan struct{} // without receive: has a token when there may be something to read
	began    uint64        // only later changes are of interest
	interval time.Duration // of bookmarks; 0: none
	deadline time.Duration // since the cache was made; 0: none

	// at is the last change that was read; nil while the watcher is asleep, because it has read all
	// that concerns it. Who wakes it holds mu of the cache. A watcher that is awake has one
	// goroutine that reads, which writes at.
	at      atomic.Pointer[change]
	ended   atomic.Pointer[error] // why it has ended; nil while it hasn't
	marked  atomic.Bool           // a bookmark is due; mu of the cache is held to change it
	flow    atomic.Uint32         // whether receive wants more: flowing, blocked or resumed
	initial *initialEvents        // used by the goroutine that reads; nil: sent

	// mu of the cache guards what follows
	bucketIndex int
	alarm       time.Duration // when the clock does something about it; 0: never
	alarmIndex  int
}

const (
	flowing uint32 = iota
	blocked        // receive has returned false
	resumed        // Ready was called while receive was running
)

// initialEvents is what is left of a watch's initial events.
type initialEvents struct {
	state tree
	from  string // the key of the next object, or less
	mark  bool   // a bookmark ends them
}

// errClosed is why a watcher has ended that was closed.
var errClosed = errors.New("the watch was closed")

// Watch starts a watch, which must be closed. Its ctx is for the time that Watch waits. Errors are
// those of WaitUntilFresh, and an [ExpiredError] if changes after After are no longer in the log.
func (c *Cache) Watch(ctx context.Context, o WatchOptions) (*Watcher, error) {
	w := &Watcher{c: c, filter: o.Filter.compile(), format: o.Format, receive: o.Receive}
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
	at := c.log.last()
	switch {
	case o.InitialEvents:
		w.initial = &initialEvents{state: now.state, mark: o.Bookmarks}
		w.initial.from, _ = w.filter.bounds()
	case o.After >= now.version:
		w.began = o.After
	case o.After != 0:
		if err := c.log.check(o.After, w.filter.selective()); err != nil {
			return nil, err
		}
		w.began, at = o.After, c.log.through(o.After)
	}
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

// Close ends the watch, and forgets it. It does not wait for a call of Receive that is under way or
// about to be made. Closing twice is fine.
func (w *Watcher) Close() {
	w.c.mu.Lock()
	defer w.c.unlock()
	w.c.endLocked(w, errClosed)
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
func (c *Cache) endLocked(w *Watcher, err error) {
	if !w.ended.CompareAndSwap(nil, &err) {
		return
	}
	c.interests.remove(w)
	c.open--
	c.clock.remove(w)
	if w.at.CompareAndSwap(nil, c.log.last()) || w.receive == nil || w.flow.CompareAndSwap(blocked, flowing) {
		c.callLocked(w)
	}
}
