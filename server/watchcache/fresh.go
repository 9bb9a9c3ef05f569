// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// waiters are the versions that requests wait for, in order.
type waiters []*waiter

// waiter is a version that requests wait for. reached is closed when the cache reaches it.
type waiter struct {
	version  uint64
	reached  chan struct{}
	requests int // waiting for it; guarded by the cache's mu
}

// add returns the waiter for a version. Each add needs a remove.
func (all *waiters) add(version uint64) *waiter {
	at, found := all.find(version)
	if !found {
		*all = slices.Insert(*all, at, &waiter{version: version, reached: make(chan struct{})})
	}
	w := (*all)[at]
	w.requests++
	return w
}

// remove drops a waiter when its last request has gone, unless its version was reached.
func (all *waiters) remove(w *waiter) {
	if w.requests--; w.requests > 0 {
		return
	}
	if at, found := all.find(w.version); found && (*all)[at] == w {
		*all = slices.Delete(*all, at, at+1)
	}
}

func (all waiters) find(version uint64) (at int, found bool) {
	return slices.BinarySearchFunc(all, version, func(w *waiter, version uint64) int { return cmp.Compare(w.version, version) })
}

func (all waiters) newest() uint64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].version
}

func (all *waiters) releaseUpTo(version uint64) {
	n := 0
	for n < len(*all) && (*all)[n].version <= version {
		close((*all)[n].reached)
		n++
	}
	*all = slices.Delete(*all, 0, n)
}

// WaitUntilFresh waits until the cache has reached a version. It returns a [TooLargeError] after
// [Config].Wait, the cause if ctx ends first, and a [NotReadyError] if the cache isn't filled.
func (c *Cache) WaitUntilFresh(ctx context.Context, version uint64) error {
	_, err := c.freshHead(ctx, version)
	return err
}

// freshHead is WaitUntilFresh, and returns a state of at least that version.
func (c *Cache) freshHead(ctx context.Context, version uint64) (*head, error) {
	h := c.head.Load()
	if h != nil && h.version >= version {
		return h, nil
	}
	c.mu.Lock()
	h = c.head.Load()
	if h == nil {
		defer c.mu.Unlock()
		return nil, c.notReadyLocked()
	}
	if h.version >= version {
		c.mu.Unlock()
		return h, nil
	}
	w := c.waiters.add(version)
	c.mu.Unlock()
	select {
	case c.waitBegan <- struct{}{}:
	default:
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiters.remove(w)
	}()
	timeout := time.NewTimer(c.config.Wait)
	defer timeout.Stop()
	select {
	case <-w.reached:
	case <-c.done:
	case <-timeout.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch h = c.head.Load(); {
	case h == nil:
		return nil, c.notReady()
	case h.version < version:
		return nil, &TooLargeError{Version: version, Current: h.version}
	}
	return h, nil
}

// progressInterval is the time between two progress requests, since a storage may miss one.
const progressInterval = 100 * time.Millisecond

type progressRequester interface {
	RequestProgress(ctx context.Context) error
}

// requestProgress asks the storage for progress while requests wait, until ctx ends.
func (c *Cache) requestProgress(ctx context.Context, storage progressRequester) {
	for {
		select {
		case <-c.waitBegan:
		case <-ctx.Done():
			return
		}
		for c.awaitedVersion() != 0 && ctx.Err() == nil {
			if err := storage.RequestProgress(ctx); err != nil {
				klog.FromContext(ctx).V(2).Info("The watch cache's storage did not accept a progress request", "cache", c.config.Name, "err", err)
			}
			sleep(ctx, progressInterval)
		}
	}
}

func (c *Cache) awaitedVersion() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiters.newest()
}
