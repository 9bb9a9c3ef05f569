// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"container/heap"
	"context"
	"io"
	"math"
	"time"

	"k8s.io/klog/v2"
)

const (
	// lastBookmark is how long before its timeout a watch gets its last bookmark.
	lastBookmark = 2 * time.Second
	// trimInterval is the time between two looks at the age of the log.
	trimInterval = time.Second
	never        = time.Duration(math.MaxInt64)
)

// clock does what is due at a time: bookmarks, timeouts, and dropping old changes. mu of the cache
// guards it, except for changed. Points in time are durations since the cache was made.
type clock struct {
	alarms  alarms
	trimmed time.Duration // when the log was looked at last, or began to drop changes
	dropped bool          // changes were dropped since then, so that some watchers may be too slow
	changed chan struct{} // has a token when the next thing may be due earlier than before
}

// alarms is a heap of watchers.
type alarms []*Watcher

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].alarm < a[j].alarm }
func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].alarmIndex, a[j].alarmIndex = i, j
}

func (a *alarms) Push(w any) {
	w.(*Watcher).alarmIndex = len(*a)
	*a = append(*a, w.(*Watcher))
}

func (a *alarms) Pop() any {
	last := len(*a) - 1
	w := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return w
}

func (k *clock) remove(w *Watcher) {
	if w.alarm != 0 {
		heap.Remove(&k.alarms, w.alarmIndex)
		w.alarm = 0
	}
}

func (k *clock) notify() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// setAlarmLocked makes the clock care for a new watcher.
func (c *Cache) setAlarmLocked(w *Watcher, o WatchOptions) {
	now := time.Since(c.made)
	if o.Bookmarks {
		w.interval = c.config.BookmarkInterval
	}
	if o.Timeout > 0 {
		w.deadline = later(now, o.Timeout)
	}
	if w.alarm = w.nextAlarm(now); w.alarm != 0 {
		heap.Push(&c.clock.alarms, w)
		if w.alarmIndex == 0 {
			c.clock.notify()
		}
	}
}

// finishLocked moves the end of a watcher to the earliest time at which it gets its last bookmark
// before, which is now, unless it ends sooner than that.
func (c *Cache) finishLocked(w *Watcher) {
	c.clock.remove(w)
	if soon := time.Since(c.made) + lastBookmark; w.deadline == 0 || w.deadline > soon {
		w.deadline = soon
	}
	w.alarm = w.deadline
	heap.Push(&c.clock.alarms, w)
	if w.alarmIndex == 0 {
		c.clock.notify()
	}
	if w.interval != 0 {
		w.marked.Store(true)
		c.wakeLocked(w, c.log.last())
	}
}

// later returns the time that is d after now; never if that is too far away to be told.
func later(now, d time.Duration) time.Duration {
	if d > never-now {
		return never
	}
	return now + d
}

// nextAlarm returns when a bookmark or the timeout is due after now; 0 if never.
func (w *Watcher) nextAlarm(now time.Duration) time.Duration {
	switch last := w.deadline - lastBookmark; {
	case w.interval == 0:
		return w.deadline
	case w.deadline == 0 || later(now, w.interval) < last:
		return later(now, w.interval)
	case now < last:
		return last
	}
	return w.deadline
}

// tick does what is due until ctx ends.
func (c *Cache) tick(ctx context.Context) {
	timer := time.NewTimer(never)
	defer timer.Stop()
	for {
		c.mu.Lock()
		now := time.Since(c.made)
		c.alarmLocked(now)
		late := c.trimLocked(now)
		next := c.nextLocked()
		c.unlock()
		if late.watches > 0 {
			klog.FromContext(ctx).Info("Watches were too slow", "cache", c.config.Name, "watches", late.watches,
				"ended", !c.config.MergeSlow, "slowestVersion", late.slowest, "oldestVersion", late.oldest)
		}
		timer.Reset(next - now)
		select {
		case <-timer.C:
		case <-c.clock.changed:
		case <-ctx.Done():
			return
		}
	}
}

// alarmLocked ends the watchers whose timeout is due, and marks those to which a bookmark is due.
func (c *Cache) alarmLocked(now time.Duration) {
	for len(c.clock.alarms) > 0 && c.clock.alarms[0].alarm <= now {
		w := c.clock.alarms[0]
		if w.deadline != 0 && w.deadline <= now {
			c.endLocked(w, timedOut, io.EOF)
			continue
		}
		w.alarm = w.nextAlarm(now)
		heap.Fix(&c.clock.alarms, 0)
		w.marked.Store(true)
		c.wakeLocked(w, c.log.last())
	}
}

// late are watchers that were found to be too slow.
type late struct {
	watches int
	slowest uint64 // the oldest version that one of them had come to
	oldest  uint64 // the oldest version of the log
}

// trimLocked drops changes that are too old, and ends the watchers that would have had to read
// them, or detaches them from the log.
func (c *Cache) trimLocked(now time.Duration) (l late) {
	if now < c.clock.trimmed+trimInterval {
		return l
	}
	c.clock.trimmed = now
	if !c.log.trim(c.made.Add(now-c.config.Age), c.config.Bytes) && !c.clock.dropped {
		return l
	}
	c.clock.dropped = false
	l.oldest = c.log.oldest()
	l.slowest = l.oldest
	for _, w := range c.interests.watchers() {
		at := w.at.Load()
		if at == nil {
			continue
		}
		next := at.next.Load()
		switch {
		case next == nil || next.version > l.oldest:
			continue
		case !c.config.MergeSlow:
			c.endLocked(w, slow, &ExpiredError{Version: at.version, Oldest: l.oldest})
		case !c.detachLocked(w, at, next):
			continue // it reads, and has come further
		}
		l.watches++
		l.slowest = min(l.slowest, at.version)
	}
	return l
}

// boundLocked keeps the log within its bytes after changes were added.
func (c *Cache) boundLocked(changes int) {
	if c.log.trim(time.Time{}, c.config.Bytes) && !c.clock.dropped {
		c.clock.dropped = true
		c.clock.trimmed = time.Since(c.made) // watchers that were woken just now have time to read
		c.clock.notify()
	}
	if len(c.log.changes) <= changes { // it was empty, so there was no age to look at
		c.clock.notify()
	}
}

// nextLocked returns when something is due next.
func (c *Cache) nextLocked() time.Duration {
	next := never
	if len(c.clock.alarms) > 0 {
		next = c.clock.alarms[0].alarm
	}
	switch earliest := c.clock.trimmed + trimInterval; {
	case c.clock.dropped:
		next = min(next, earliest)
	case len(c.log.changes) > 0:
		next = min(next, max(earliest, later(c.log.changes[0].at.Sub(c.made), c.config.Age)))
	}
	return next
}
