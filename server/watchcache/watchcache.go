// SPDX-License-Identifier: Apache-2.0

// Package watchcache is the server's side of list and watch: it keeps the objects of one resource
// as bytes, and answers lists and watches from memory.
//
// A [Cache] has the present state, and one log of the changes that led to it. Each change has the
// object before and after it, and the resulting state. A watcher is a position in that log, with a
// filter:
//
//	            version 41     version 44     version 45     version 47
//	state ◀──── change ──────▶ change ──────▶ change ──────▶ change        the log
//	before the  before, after  before, after  before, after  before, after
//	first one   state          state          state          state ──▶ now
//	                                ▲                             ▲
//	                           a watcher that has            watchers that have
//	                           more to read                  read all: no position, asleep
//
//	index       41 │ 44 │ 45 │ 47      for a watch from 44: binary search, then follow the links
//
// So a watcher has no queue, and a slow one holds up no other. When its next change has left the
// log, it is ended with an [ExpiredError], or gets the difference of two states
// ([Config].MergeSlow).
//
// A watcher that has read everything is found by a requirement of its filter: a name, a field's
// value, one label with its value, or a namespace. A change wakes only the watchers it may concern;
// they read the log from there on.
//
// Each state has an index of its objects by the values of their fields. Lists and initial events
// that require a value visit only the objects with it, at all versions and in pages.
//
// # Versions
//
// Versions are the storage's, so clients may move between caches of one storage. The oldest version
// requests may name is the one before the first change of the log. Changes leave the log by age and
// by size.
//
// A list or watch without a version is answered at the cache's version, so it is as old as the
// storage's last event. A request that must not get older data names a version.
//
// When the storage reports an expired version, the cache lists, and adds the difference to the log
// as changes. Objects keep their own versions. A deletion has the list's version, but clients see
// the newest version before it: no client comes back with the list's version while it lacks a
// deletion. It may get the deletion twice, if it comes back with the deletion's version. Versions
// in between are unknown: an object may have come and gone there, and a client may have it from
// elsewhere. Lists at exactly such a version, and watches from it, expire.
//
// After a backup is restored, the storage's versions go back. The cache notices an event or a
// bookmark older than the previous one, and, if the storage can report its version, asks for it
// between two watches: after each failure, and after a silent watch. Then it lists, replaces all
// objects, and ends all watches with an [ExpiredError]. Until then it answers with the old objects.
// It doesn't notice if the versions pass the old ones first. Kubernetes recommends to bump the
// revision of a restored backup, and to mark it compacted: then every watch expires.
//
// # Ordering and blocking
//
// A watcher gets the changes it selects in version order, each once. For the client of two watches
// in a row, [Config].MergeSlow and a relist make exceptions. [Event] describes the events for an
// object that enters or leaves the filter.
//
// Get and List take no lock, except for a list at an older version, and for a moment one with a
// label selector. They wait only for a version the cache hasn't reached.
//
// # Goroutines
//
//	goroutine             started by   ends when
//	Run                   the caller   its context ends
//	workers, one clock    Run          Run returns
//	one for progress      Run          Run returns; only over a storage that can be asked for it
//
// A worker calls the watchers' Receive functions. No goroutine belongs to a watcher or a request.
package watchcache

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Config holds the settings of a [Cache]. Storage must be set; zero values mean the defaults.
type Config struct {
	Storage Storage

	// Name is the cache's name in metrics and log lines, such as "pods".
	Name string
	// Metrics gets the cache's metrics while it runs; nil means none.
	Metrics metrics.CacheProvider

	// Age is how long a change stays in the log; 5 minutes by default. Bytes limits the log's
	// memory; 64 MiB by default. The oldest changes are dropped when either is exceeded.
	Age   time.Duration
	Bytes int64
	// MergeSlow keeps watches that are too slow; API servers end them. Such a watch gets one event
	// for each object changed since its last read, instead of all missed events. Deleted objects
	// come first. Until it reads, it keeps the objects of its last state in memory. Watches still
	// being sent their initial events are included, also in package serve.
	//
	// If the connection ends between these events, the client continues from the version of the
	// last one received. It misses nothing, but may get Modified or Deleted events of objects it
	// never had, because they came after its previous version. Informers treat the former as Added,
	// and ignore the latter.
	MergeSlow bool

	// Wait is how long a request waits for its version; 3 seconds by default.
	Wait time.Duration
	// BookmarkInterval is the time between two bookmarks of a watch; 1 minute by default.
	BookmarkInterval time.Duration
	// Retry is the maximum pause between requests to a failing storage; 30 seconds by default.
	Retry time.Duration
	// Workers is the number of goroutines calling Receive functions; by default the number of
	// processors, but at least two.
	Workers int
}

// Cache answers lists and watches of one resource. [New] makes one. All methods are safe for
// concurrent use, except Poll.
type Cache struct {
	// set once at construction
	config    Config
	created   time.Time
	filled    chan struct{} // closed when the cache is first filled
	done      chan struct{} // closed when Run ends
	waitBegan chan struct{} // has a token when a request begins to wait for a version

	head  atomic.Pointer[head] // nil: not filled, or Run has ended
	ready readyQueue           // watchers with a Receive function and events to read

	gets, lists, sent atomic.Int64 // totals

	// mu guards what follows, and writes of head. The mu of ready and of a change's frames may be
	// locked while mu is held.
	mu           sync.Mutex
	log          log
	interests    interests
	encoders     map[Format]*encoder
	openWatchers int
	waiters      waiters
	clock        clock
	woken        []*Watcher // for ready, when mu is unlocked
	started      bool
	err          error // the storage's last error; nil since its next event
	lastEvent    time.Time
	objectBytes  int64 // memory of the current objects
	// totals
	applied, relists, failures, merged int64
	ended                              [endReasonCount]int64
}

// head is the newest state. It is immutable.
type head struct {
	version uint64
	state   objectSet
}

// New returns an empty cache, which Run fills. It fails if the configuration lacks a Storage, or if
// a value is negative.
func New(config Config) (*Cache, error) {
	if config.Storage == nil {
		return nil, errors.New("watchcache: Config.Storage is nil")
	}
	if min(config.Age, config.Wait, config.BookmarkInterval, config.Retry) < 0 || config.Bytes < 0 || config.Workers < 0 {
		return nil, errors.New("watchcache: a duration or a number in Config is negative")
	}
	config.Age = cmp.Or(config.Age, 5*time.Minute)
	config.Bytes = cmp.Or(config.Bytes, 64<<20)
	config.Wait = cmp.Or(config.Wait, 3*time.Second)
	config.BookmarkInterval = cmp.Or(config.BookmarkInterval, time.Minute)
	config.Retry = cmp.Or(config.Retry, 30*time.Second)
	config.Workers = cmp.Or(config.Workers, max(2, runtime.GOMAXPROCS(0)))
	c := &Cache{config: config, created: time.Now(), filled: make(chan struct{}), done: make(chan struct{}), waitBegan: make(chan struct{}, 1), interests: interests{}, encoders: map[Format]*encoder{}}
	c.ready.changed.L = &c.ready.mu
	c.clock.changed = make(chan struct{}, 1)
	return c, nil
}

// Run fills the cache from its storage, follows the storage until ctx ends, and returns the cause.
// When the storage fails, Run tries again with growing pauses; the cache stays readable. Before Run
// returns, it ends all watchers with a [NotReadyError]. A second call of Run returns an error.
func (c *Cache) Run(ctx context.Context) error {
	c.mu.Lock()
	again := c.started
	c.started = true
	c.mu.Unlock()
	if again {
		return errors.New("watchcache: Run was called before; make a new cache")
	}
	if c.config.Metrics != nil {
		defer c.config.Metrics.BeginCache(c.config.Name, c.Status)()
	}
	var running sync.WaitGroup
	running.Go(func() { c.runClock(ctx) })
	if storage, ok := c.config.Storage.(progressRequester); ok {
		running.Go(func() { c.requestProgress(ctx, storage) })
	}
	for range c.config.Workers {
		running.Go(c.work)
	}
	c.follow(ctx)
	c.stop(context.Cause(ctx))
	running.Wait()
	return context.Cause(ctx)
}

func (c *Cache) stop(cause error) {
	c.mu.Lock()
	c.head.Store(nil)
	c.err = cause
	err := c.notReadyLocked()
	for _, w := range c.interests.watchers() {
		c.endLocked(w, endStopped, err)
	}
	c.unlock()
	close(c.done)
	c.ready.stop()
}

// unlock unlocks mu, and hands the woken watchers to the workers.
func (c *Cache) unlock() {
	c.ready.push(c.woken)
	clear(c.woken)
	c.woken = c.woken[:0]
	c.mu.Unlock()
}

// WaitReady waits until the cache is filled. It returns the cause if ctx ends first, and a
// [NotReadyError] if Run does.
func (c *Cache) WaitReady(ctx context.Context) error {
	select {
	case <-c.filled:
	case <-c.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c.head.Load() == nil {
		return c.notReady()
	}
	return nil
}

func (c *Cache) notReady() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notReadyLocked()
}

func (c *Cache) notReadyLocked() error {
	return &NotReadyError{Since: time.Since(c.created), Err: c.err}
}
