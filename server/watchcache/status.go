// SPDX-License-Identifier: Apache-2.0

package watchcache

import "github.com/informer-gen/informer-gen/runtime/metrics"

type endReason uint8

const (
	endClosed endReason = iota
	endTimedOut
	endSlow
	endExpired
	endFailed
	endStopped
	endReasonCount = iota
)

// Status returns the cache's state as reported in its metrics.
func (c *Cache) Status() metrics.CacheState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := metrics.CacheState{
		Err: c.err, LastEvent: c.lastEvent, Awaited: c.waiters.newest(),
		Changes: len(c.log.changes), ChangeBytes: c.log.memory(), ObjectBytes: c.objectBytes, Watchers: c.openWatchers,
		Applied: c.applied, Sent: c.sent.Load(), Gets: c.gets.Load(), Lists: c.lists.Load(),
		Relists: c.relists, Failures: c.failures, Merged: c.merged,
		Ended: metrics.WatchEnds{
			Closed: c.ended[endClosed], TimedOut: c.ended[endTimedOut], Slow: c.ended[endSlow],
			Expired: c.ended[endExpired], Failed: c.ended[endFailed], Stopped: c.ended[endStopped],
		},
	}
	if len(c.log.changes) > 0 {
		s.OldestChange = c.log.changes[0].time
	}
	if h := c.head.Load(); h != nil {
		s.Ready, s.Version, s.Oldest, s.Objects = true, h.version, c.log.oldest(), h.state.objects.Len()
	}
	return s
}
