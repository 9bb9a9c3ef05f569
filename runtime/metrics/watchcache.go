// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// CacheProvider receives the metrics of watch caches. It serves any number of caches, even several
// of one name.
type CacheProvider interface {
	// BeginCache is called when a watch cache begins to run. read returns the cache's state, and
	// takes its lock briefly. The returned function must not be nil; it is called once, when the
	// cache has ended.
	BeginCache(name string, read func() CacheState) (end func())
}

// CacheState is the state of a watch cache.
type CacheState struct {
	// Ready reports whether the cache is filled and runs.
	Ready bool
	// Err is the storage's last failure; nil since its next event.
	Err error
	// LastEvent is the time of the storage's last event or bookmark. The zero time means never.
	LastEvent time.Time

	// Version is the cache's version, Oldest the oldest version requests may name. Awaited is the
	// newest version that a request waits for, or 0. A cache that stays below Awaited is behind its
	// storage.
	Version, Oldest, Awaited uint64
	// Objects is the number of objects, Changes the number of changes in the log. ObjectBytes and
	// ChangeBytes are estimates of their memory; the log has old objects and frames.
	Objects, Changes         int
	ObjectBytes, ChangeBytes int64
	// OldestChange is the arrival of the oldest change in the log; zero if the log is empty.
	OldestChange time.Time
	// Watchers is the number of open watches.
	Watchers int

	// The totals below start at 0 when the cache is made and never decrease.

	// Applied counts the changes of objects made by the cache, Sent the events sent to its watches,
	// bookmarks included.
	Applied, Sent int64
	// Gets and Lists count the requests answered from memory.
	Gets, Lists int64
	// Relists counts the further lists of the storage, Failures its failures.
	Relists, Failures int64
	// Merged counts how often a slow watch was sent the difference of two states.
	Merged int64
	// Ended counts the ended watches.
	Ended WatchEnds
}

// WatchEnds counts the ended watches of a cache by reason.
type WatchEnds struct {
	// Closed counts watches closed by their clients, TimedOut those at their timeout.
	Closed, TimedOut int64
	// Slow counts watches that had not read changes about to leave the log, Expired those that
	// could not go on because the storage had lost its history, or had gone back to an older one.
	Slow, Expired int64
	// Failed counts watches with an event that could not be encoded, Stopped those open when the
	// cache ended.
	Failed, Stopped int64
}
