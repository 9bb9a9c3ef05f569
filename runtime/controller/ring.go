// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Ring divides the keys among the replicas of a program. A *shard.Ring is one.
type Ring interface {
	// Hub is for this module.
	Hub() *partition.Hub
}

// buckets has the parts of the keys that a run works on. It is the run's [partition.Worker].
type buckets struct {
	*partition.Claims

	// set once at construction
	run   *run
	hub   *partition.Hub
	kind  *kind        // of the keys; nil without For
	calls []sync.Mutex // by watch: held while its filters and mappings are called

	mu    sync.Mutex              // mu guards the field below
	early map[object.Key]struct{} // from Enqueue before join; nil after it
}

func newBuckets(r *run) *buckets {
	c := r.controller
	if c.options.Ring == nil {
		return nil
	}
	hub := c.options.Ring.Hub()
	return &buckets{
		Claims: partition.NewClaims(r.reconcileCtx, hub), run: r, hub: hub, kind: c.kind,
		calls: make([]sync.Mutex, len(c.watches)), early: map[object.Key]struct{}{},
	}
}

func validateRing(r Ring, k *kind) error {
	switch {
	case r == nil:
		return nil
	case isNilPointer(r) || r.Hub() == nil:
		return errors.New("the Ring is nil; make it with shard.New, or leave it out")
	case r.Hub().By == partition.ByUID && k == nil:
		return errors.New("the Ring goes by UID, and the controller has no For, whose objects have the UIDs; add it, or use ByKey")
	}
	return nil
}

// join begins the work, when all informers have synced.
func (b *buckets) join() {
	b.Join(b)
	b.mu.Lock()
	early := b.early
	b.early = nil
	b.mu.Unlock()
	for key := range early {
		b.add(key, workqueue.AddOptions{})
	}
}

// end leaves the ring, after the last reconcile has ended.
func (b *buckets) end() {
	if b != nil {
		b.Leave()
	}
}

// postpone reports whether keys of Enqueue are kept for join. Keys of events need not be kept: the
// first grant queues all.
func (b *buckets) postpone(keys []object.Key) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.early == nil {
		return false
	}
	for _, key := range keys {
		b.early[key] = struct{}{}
	}
	return true
}

// callsOf returns the lock for calls of a watch's functions; nil means none is needed, because only
// its handler calls them.
func (b *buckets) callsOf(watch int) *sync.Mutex {
	if b == nil {
		return nil
	}
	return &b.calls[watch]
}

// bucketOf returns the bucket of a key: that of its object, so informers and controllers agree.
// Without an object, the key itself tells the bucket, except by UID.
func (b *buckets) bucketOf(key object.Key) (bucket int, known bool) {
	if b.hub.By != partition.ByNamespace && b.kind != nil {
		if obj, ok := b.kind.informer.Store().Snapshot().Get(key); ok {
			return b.hub.BucketOf(object.MetaOf(obj)), true
		}
	}
	return b.hub.Locate(object.Meta{Namespace: key.Namespace, Name: key.Name})
}

// holds reports whether the run may reconcile a key. Without a ring, it may always.
func (b *buckets) holds(key object.Key) bool {
	if b == nil {
		return true
	}
	bucket, known := b.bucketOf(key)
	return known && b.Holds(bucket)
}

// add queues a key, or drops it if its bucket is not held.
func (b *buckets) add(key object.Key, how workqueue.AddOptions) {
	if bucket, known := b.bucketOf(key); known {
		b.IfHeld(bucket, func() { b.run.queue.AddWith(key, how) })
	}
}

// begin counts a reconcile and sets its context, or returns false if the key's bucket is not held.
func (b *buckets) begin(item *itemContext) bool {
	if b == nil {
		return true
	}
	bucket, known := b.bucketOf(item.key)
	if !known {
		return false
	}
	ctx, ok := b.Begin(bucket)
	if ok {
		item.Context, item.bucket = ctx, int32(bucket)
	}
	return ok
}

// done counts the end of a reconcile. It sets handedOver if the reconcile ended because of the
// ring, or after it lost its bucket.
func (b *buckets) done(item *itemContext) {
	if b != nil {
		held := b.End(int(item.bucket))
		item.handedOver = !held || errors.Is(context.Cause(item.Context), partition.ErrNotOwned)
	}
}

// Revoke implements [partition.Worker].
func (b *buckets) Revoke(set partition.Set) {
	b.Claims.Revoke(set)
	b.run.queue.Purge(func(key object.Key) bool { return !b.holds(key) })
}

// Queued implements [partition.Worker].
func (b *buckets) Queued(counts []int) {
	for _, key := range b.run.queue.Keys() {
		if bucket, known := b.bucketOf(key); known {
			counts[bucket]++
		}
	}
}

// queueGranted queues the keys of buckets after their grants, until ctx is done.
func (b *buckets) queueGranted(ctx context.Context) {
	b.Grants(ctx, func(granted partition.Set) {
		add := func(key object.Key, how workqueue.AddOptions) {
			if bucket, known := b.bucketOf(key); known && granted.Has(bucket) {
				b.add(key, how)
			}
		}
		for n := range b.calls {
			if w := &b.run.controller.watches[n]; w.addAll != nil {
				w.addAll(ctx, w.withDelay(add), b.callsOf(n))
			}
		}
	})
}

// logPanic recovers a panic of a watch's filter or mapping. It is deferred.
func logPanic(ctx context.Context, watch string, obj object.Object) {
	if v := recover(); v != nil {
		klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", v), "Failed to find the keys to reconcile after a grant", "watch", watch,
			"object", textOf(object.KeyOf(obj)), "stack", string(debug.Stack()))
	}
}
