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
	// lastBookmarkLead is the time between a watch's last bookmark and its timeout.
	lastBookmarkLead = 2 * time.Second
	// trimInterval is the time between two checks of the log's age.
	trimInterval = time.Second
	never        = time.Duration(math.MaxInt64)
)

// clock sends bookmarks, ends watches at their timeouts, and drops old changes. The cache's mu
// guards it, except for changed. Points in time are durations since the cache was made.
type clock struct {
	alarms       alarms
	lastTrim     time.Duration // when the log's age was last checked, or dropping began
	slowCheckDue bool          // changes were dropped since; watchers may be too slow
	changed      chan struct{} // has a token when the next alarm may be earlier than before
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
	now := time.Since(c.created)
	if o.Bookmarks {
		w.interval = c.config.BookmarkInterval
	}
	if o.Timeout > 0 {
		w.deadline = addCapped(now, o.Timeout)
	}
	if w.alarm = w.nextAlarm(now); w.alarm != 0 {
		heap.Push(&c.clock.alarms, w)
		if w.alarmIndex == 0 {
			c.clock.notify()
		}
	}
}

// finishLocked sends a watcher its last bookmark now and ends it lastBookmarkLead later, unless its
// end is earlier.
func (c *Cache) finishLocked(w *Watcher) {
	c.clock.remove(w)
	if end := time.Since(c.created) + lastBookmarkLead; w.deadline == 0 || w.deadline > end {
		w.deadline = end
	}
	w.alarm = w.deadline
	heap.Push(&c.clock.alarms, w)
	if w.alarmIndex == 0 {
		c.clock.notify()
	}
	if w.interval != 0 {
		w.bookmarkDue.Store(true)
		c.wakeLocked(w, c.log.last())
	}
}

// addCapped returns now + d, or never if the sum overflows.
func addCapped(now, d time.Duration) time.Duration {
	if d > never-now {
		return never
	}
	return now + d
}

// nextAlarm returns the time of the next bookmark or the timeout; 0 if there is none.
func (w *Watcher) nextAlarm(now time.Duration) time.Duration {
	switch last := w.deadline - lastBookmarkLead; {
	case w.interval == 0:
		return w.deadline
	case w.deadline == 0 || addCapped(now, w.interval) < last:
		return addCapped(now, w.interval)
	case now < last:
		return last
	}
	return w.deadline
}

func (c *Cache) runClock(ctx context.Context) {
	timer := time.NewTimer(never)
	defer timer.Stop()
	for {
		c.mu.Lock()
		now := time.Since(c.created)
		c.fireAlarmsLocked(now)
		slow := c.trimLocked(now)
		next := c.nextTickLocked()
		c.unlock()
		if slow.count > 0 {
			klog.FromContext(ctx).Info("Watches were too slow", "cache", c.config.Name, "watches", slow.count,
				"ended", !c.config.MergeSlow, "slowestVersion", slow.slowestVersion, "oldestVersion", slow.oldestVersion)
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

// fireAlarmsLocked ends watchers whose timeout has passed, and marks those due a bookmark.
func (c *Cache) fireAlarmsLocked(now time.Duration) {
	for len(c.clock.alarms) > 0 && c.clock.alarms[0].alarm <= now {
		w := c.clock.alarms[0]
		if w.deadline != 0 && w.deadline <= now {
			c.endLocked(w, endTimedOut, io.EOF)
			continue
		}
		w.alarm = w.nextAlarm(now)
		heap.Fix(&c.clock.alarms, 0)
		w.bookmarkDue.Store(true)
		c.wakeLocked(w, c.log.last())
	}
}

// slowWatches counts watchers found too slow.
type slowWatches struct {
	count          int
	slowestVersion uint64 // lowest version that any of them had reached
	oldestVersion  uint64 // the log's oldest version
}

// trimLocked drops changes beyond the age limit. Watchers that still had to read them are ended, or
// detached from the log.
func (c *Cache) trimLocked(now time.Duration) (slow slowWatches) {
	if now < c.clock.lastTrim+trimInterval {
		return slow
	}
	c.clock.lastTrim = now
	if !c.log.trim(c.created.Add(now-c.config.Age), c.config.Bytes) && !c.clock.slowCheckDue {
		return slow
	}
	c.clock.slowCheckDue = false
	slow.oldestVersion = c.log.oldest()
	slow.slowestVersion = slow.oldestVersion
	for _, w := range c.interests.watchers() {
		at := w.position.Load()
		if at == nil {
			continue
		}
		next := at.next.Load()
		switch {
		case next == nil || next.version > slow.oldestVersion:
			continue
		case !c.config.MergeSlow:
			c.endLocked(w, endSlow, &ExpiredError{Version: at.version, Oldest: slow.oldestVersion})
		case !c.detachLocked(w, at, next):
			continue // it is reading, and has moved on
		}
		slow.count++
		slow.slowestVersion = min(slow.slowestVersion, at.version)
	}
	return slow
}

func (c *Cache) limitLogLocked(changes int) {
	if c.log.trim(time.Time{}, c.config.Bytes) && !c.clock.slowCheckDue {
		c.clock.slowCheckDue = true
		c.clock.lastTrim = time.Since(c.created) // gives watchers just woken time to read
		c.clock.notify()
	}
	if len(c.log.changes) <= changes { // the log was empty, so its age wasn't checked
		c.clock.notify()
	}
}

func (c *Cache) nextTickLocked() time.Duration {
	next := never
	if len(c.clock.alarms) > 0 {
		next = c.clock.alarms[0].alarm
	}
	switch earliest := c.clock.lastTrim + trimInterval; {
	case c.clock.slowCheckDue:
		next = min(next, earliest)
	case len(c.log.changes) > 0:
		next = min(next, max(earliest, addCapped(c.log.changes[0].time.Sub(c.created), c.config.Age)))
	}
	return next
}
