// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// CacheProvider gets the metrics of watch caches. One CacheProvider serves any number of caches,
// also several of the same name.
type CacheProvider interface {
	// BeginCache is called when a watch cache begins to run. read returns the state of the cache,
	// and takes its lock for a moment. The function that BeginCache returns must not be nil; it is
	// called once, when the cache has ended.
	BeginCache(name string, read func() CacheState) (end func())
}

// CacheState is the state of a watch cache.
type CacheState struct {
	// Ready reports whether the cache is filled and runs.
	Ready bool
	// Err is what the storage has failed with last; nil since its next event.
	Err error
	// LastEvent is when the storage's last event came, bookmarks included; the zero time means
	// never.
	LastEvent time.Time

	// Version is the cache's version, Oldest the oldest one that requests may name. Awaited is the
	// newest version for which a request waits; 0 if none waits. A cache that stays behind Awaited
	// is behind its storage.
	Version, Oldest, Awaited uint64
	// Objects is how many objects there are, Changes how many changes are in the log. ObjectBytes
	// and ChangeBytes are about how much memory they take; the log has old objects and frames.
	Objects, Changes         int
	ObjectBytes, ChangeBytes int64
	// OldestChange is when the oldest change of the log came; the zero time if the log is empty.
	OldestChange time.Time
	// Watchers is how many watches are open.
	Watchers int

	// What follows are totals. They begin at 0 when the cache is made and never go down.

	// Applied is how many changes of objects the cache has made, Sent how many events its watches
	// have got, bookmarks included.
	Applied, Sent int64
	// Gets and Lists are how many of each were answered from memory.
	Gets, Lists int64
	// Relists is how often the storage has been listed again, Failures how often it has failed.
	Relists, Failures int64
	// Merged is how often a watch that was too slow has got the difference of two states.
	Merged int64
	// Ended counts the watches that have ended.
	Ended WatchEnds
}

// WatchEnds counts the watches of a cache that have ended by the reason.
type WatchEnds struct {
	// Closed is how many were closed by their clients, TimedOut how many at their timeout.
	Closed, TimedOut int64
	// Slow is how many had not read changes that were about to leave the log. Expired is how many
	// could not go on because the storage had lost its history, or had gone back to an older one.
	Slow, Expired int64
	// Failed is how many had an event that could not be encoded. Stopped is how many were open when
	// the cache ended.
	Failed, Stopped int64
}
