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
	// lastBookmark is the time between a watch's last bookmark and its timeout.
	lastBookmark = 2 * time.Second
	// trimInterval is the time between two checks of the log's age.
	trimInterval = time.Second
	never        = time.Duration(math.MaxInt64)
)

// clock sends bookmarks, ends watches at their timeouts, and drops old changes. The cache's mu
// guards it, except for changed. Points in time are durations since the cache was made.
type clock struct {
	alarms  alarms
	trimmed time.Duration // when the log was last checked, or began to drop changes
	dropped bool          // changes were dropped since then, so watchers may be too slow
	changed chan struct{} // has a token when the next alarm may be earlier than before
}

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

// finishLocked sends a watcher its last bookmark now and ends it lastBookmark later, unless its end
// is earlier.
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

func later(now, d time.Duration) time.Duration {
	if d > never-now {
		return never
	}
	return now + d
}

// nextAlarm returns the time of the next bookmark or the timeout; 0 if there is none.
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

// alarmLocked ends watchers whose timeout has passed, and marks those due a bookmark.
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

// late counts watchers found too slow.
type late struct {
	watches int
	slowest uint64 // lowest version that any of them had reached
	oldest  uint64 // the log's oldest version
}

// trimLocked drops changes beyond the age limit. Watchers that still had to read them are ended, or
// detached from the log.
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
			continue // it is reading, and has moved on
		}
		l.watches++
		l.slowest = min(l.slowest, at.version)
	}
	return l
}

func (c *Cache) boundLocked(changes int) {
	if c.log.trim(time.Time{}, c.config.Bytes) && !c.clock.dropped {
		c.clock.dropped = true
		c.clock.trimmed = time.Since(c.made) // gives watchers just woken time to read
		c.clock.notify()
	}
	if len(c.log.changes) <= changes { // the log was empty, so its age wasn't checked
		c.clock.notify()
	}
}

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
