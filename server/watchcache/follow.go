// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"
)

const firstPause = 100 * time.Millisecond

// errOrder means the storage's watch has sent events out of order. The cache then lists again.
var errOrder = errors.New("the storage's events are out of order")

// errWentBack means the storage is at an older version than the cache, as after a restored backup.
// The cache then lists again, and doesn't rely on equal versions.
var errWentBack = errors.New("the storage has gone back to an older version")

// followState is the cache's view of its storage between two requests.
type followState struct {
	listed   bool // the cache has a list, so it can watch
	watched  bool // a watch has begun since the list; the storage may have gone back meanwhile
	wentBack bool // the storage has gone back since the list
}

func (c *Cache) follow(ctx context.Context) {
	logger := klog.FromContext(ctx).WithValues("cache", c.config.Name)
	var s followState
	pause := firstPause
	for ctx.Err() == nil {
		before, began, listed := c.version(), time.Now(), s.listed
		err := c.step(ctx, &s)
		if ctx.Err() != nil {
			return
		}
		c.recordResult(err)
		duration := time.Since(began)
		// progress was made, or the storage has ended a watch without news
		if c.version() > before || duration > c.config.Retry || err == nil && duration >= time.Second {
			pause = firstPause
			continue
		}
		switch {
		case listed && !s.listed:
			logger.Info("The watch cache lists its storage again", "reason", err, "pause", pause)
		case err != nil:
			logger.Error(err, "The watch cache's storage has failed and will be retried", "pause", pause)
		}
		sleep(ctx, pause/2+rand.N(pause))
		pause = min(2*pause, c.config.Retry)
	}
}

// Poll is one step of Run, on the caller's goroutine and without waiting: it lists the storage, or
// reads the changes the storage has so far. Call it instead of Run, by one goroutine at a time. The
// clock doesn't run then: there are no timeouts, no bookmarks other than the ones after initial
// events, and changes leave the log by size only. No Receive function is called.
//
// The storage's Watch is called with an ended context. It must emit its pending changes before it
// checks the context, as package memory does. Errors are the storage's.
func (c *Cache) Poll() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := followState{listed: c.head.Load() != nil}
	watches := s.listed
	err := c.step(ctx, &s)
	if watches && !s.listed {
		err = c.step(ctx, &s)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (c *Cache) step(ctx context.Context, state *followState) error {
	if !state.listed {
		objects, version, err := c.config.Storage.List(ctx)
		if err != nil {
			return fmt.Errorf("listing the storage: %w", err)
		}
		slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Key, b.Key) })
		c.replace(objects, version, state.wentBack)
		*state = followState{listed: true}
		return nil
	}
	err := c.watchStorage(ctx, state.watched)
	state.watched = true
	state.wentBack = errors.Is(err, errWentBack)
	state.listed = !state.wentBack && !errors.As(err, new(*ExpiredError)) && !errors.Is(err, errOrder)
	return err
}

// versioner is a [Storage] that can report its version.
type versioner interface {
	Newest(ctx context.Context) (uint64, error)
}

// watchStorage watches the storage. If checkVersion is set, it first asks for the storage's
// version: a watch from a future version would be silent, like a watch without news.
func (c *Cache) watchStorage(ctx context.Context, checkVersion bool) error {
	if storage, ok := c.config.Storage.(versioner); ok && checkVersion {
		switch version, err := storage.Newest(ctx); {
		case err != nil: // the watch may still work
			c.recordResult(fmt.Errorf("asking the storage for its version: %w", err))
		case version < c.version():
			return fmt.Errorf("%w: %d after %d", errWentBack, version, c.version())
		}
	}
	if err := c.config.Storage.Watch(ctx, c.version(), c.apply); err != nil {
		return fmt.Errorf("watching the storage: %w", err)
	}
	return nil
}

func (c *Cache) recordResult(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err = err; err != nil {
		c.failures++
	}
}

func (c *Cache) version() uint64 {
	if h := c.head.Load(); h != nil {
		return h.version
	}
	return 0
}

// apply adds an event of the storage to the log.
func (c *Cache) apply(e Event) error {
	now := c.head.Load()
	version := e.Version
	if e.Object != nil && e.Type != deleted {
		version = e.Object.Version
	}
	switch {
	case version < now.version:
		return fmt.Errorf("%w: %s at version %d after %d", errWentBack, e.Type, version, now.version)
	case e.Type == bookmark:
		c.publish(nil, &head{version, now.state})
		return nil
	case version == now.version:
		return fmt.Errorf("%w: %s of %s at version %d after %d", errOrder, e.Type, e.Object.Key, version, now.version)
	}
	n := &change{version: version, clientVersion: version, before: now.state.get(e.Object.Key), state: now.state}
	switch {
	case e.Type != deleted:
		n.after, n.state = e.Object, now.state.put(e.Object)
	case n.before == nil:
		c.publish(nil, &head{version, now.state})
		return nil
	default:
		n.state = now.state.remove(e.Object.Key)
	}
	c.publish([]*change{n}, &head{version, n.state})
	return nil
}

// replace updates the cache to the sorted objects of a list. wentBack means the storage has gone
// back since the previous list, so objects of equal versions may differ.
func (c *Cache) replace(objects []*Object, version uint64, wentBack bool) {
	now := c.head.Load()
	if now == nil {
		c.reset(objectSetOf(objects), version)
		close(c.filled)
		return
	}
	changes, ok := difference(now, objects, version)
	if wentBack || !ok {
		c.reset(objectSetOf(objects), version)
		return
	}
	state := now.state
	if len(changes) > 0 {
		state = changes[len(changes)-1].state
	}
	c.recordGap(gap{now.version, version})
	c.publish(changes, &head{version, state})
}

// recordGap records that the cache knows nothing about the versions in g. It ends watches that
// begin there: their clients may have objects that came and went in g.
func (c *Cache) recordGap(g gap) {
	c.mu.Lock()
	defer c.unlock()
	c.relists++
	if g.to <= g.from+1 {
		return
	}
	c.log.gaps = append(c.log.gaps, g)
	for _, w := range c.interests.watchers() {
		if g.has(w.startVersion) {
			c.endLocked(w, endExpired, &ExpiredError{Version: w.startVersion, Oldest: g.to})
		}
	}
}

// reset starts over with objects, because the cache is empty or the storage has gone back to an
// older version. Watchers can't continue from the old history.
func (c *Cache) reset(state objectSet, version uint64) {
	h := &head{version, state}
	c.mu.Lock()
	defer c.unlock()
	if c.head.Load() != nil {
		c.relists++
	}
	for _, w := range c.interests.watchers() {
		c.endLocked(w, endExpired, &ExpiredError{Version: w.startVersion, Oldest: version})
	}
	c.log.reset(state, version)
	c.objectBytes = 0
	for o := range state.objects.All {
		c.objectBytes += o.memory()
	}
	c.head.Store(h)
	c.waiters.releaseUpTo(version)
	c.lastEvent = time.Now()
}

// difference returns the changes from now to the objects of a newer list. ok is false if the
// versions make that impossible.
//
// An object's change has the object's version. A deletion has the list's version, or that of the
// object that has taken over the key. It is shown with the newest version before it.
func difference(now *head, objects []*Object, version uint64) (changes []*change, ok bool) {
	ok = version >= now.version
	addDeletion := func(o *Object, version uint64) { changes = append(changes, &change{version: version, before: o}) }
	addUpdate := func(before, after *Object) {
		ok = ok && after.Version > now.version && after.Version <= version
		if before != nil && before.UID != after.UID {
			addDeletion(before, after.Version)
			before = nil
		}
		changes = append(changes, &change{version: after.Version, before: before, after: after})
	}
	now.state.diff(objectSet{objects: treeOf(objects)}, func(before, after *Object) {
		switch {
		case after == nil:
			addDeletion(before, version)
		case before == nil || before.Version != after.Version || before.UID != after.UID:
			addUpdate(before, after)
		}
	})
	slices.SortStableFunc(changes, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.sortRank(), b.sortRank()))
	})
	state, clientVersion := now.state, now.version
	for _, n := range changes {
		if n.after == nil {
			state = state.remove(n.before.Key)
		} else {
			state, clientVersion = state.put(n.after), n.version
		}
		n.state, n.clientVersion = state, clientVersion
	}
	return changes, ok
}

// sortRank is 0 for a deletion and 1 otherwise, so deletions sort first.
func (n *change) sortRank() int {
	if n.after == nil {
		return 0
	}
	return 1
}

// publish makes the changes and h, the state after them, visible at once.
func (c *Cache) publish(changes []*change, h *head) {
	now := time.Now()
	c.mu.Lock()
	defer c.unlock()
	for _, n := range changes {
		n.time = now
		c.objectBytes += n.after.memory() - n.before.memory()
		last := c.log.last()
		c.log.append(n)
		c.interests.each(n.before, n.after, func(w *Watcher) { c.wakeLocked(w, last) })
	}
	c.head.Store(h)
	c.waiters.releaseUpTo(h.version)
	c.lastEvent, c.err = now, nil
	c.applied += int64(len(changes))
	if len(changes) > 0 {
		c.limitLogLocked(len(changes))
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
