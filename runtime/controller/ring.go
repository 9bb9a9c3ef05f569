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
//
//	ring ─ SetEpoch(e), Grant ──▶ its keys are queued ─▶ begin ─▶ reconcile ─▶ done ─▶ Hub.Done
//	     ─ SetEpoch(0), Revoke ─▶ its keys are dropped              ▲
//	     ─ Cancel ─▶ the context is done ───────────────────────────┘
//
// A bucket is held while its epoch in the hub is not 0. Keys are added, and reconciles begin, in
// the critical section that reads the epoch. Revoke, which comes after the change of the epoch,
// takes the same lock. So after Revoke neither happens.
type buckets struct {
	// set once at construction
	run   *run
	hub   *partition.Hub
	kind  *kind         // of the keys; nil without For
	calls []sync.Mutex  // by watch: held while its filters and mappings are called
	wake  chan struct{} // has a value after a grant
	leave func()        // leaves the hub; set by join

	mu      sync.Mutex // mu guards the fields below; before the locks of hub and queue
	joined  bool
	granted partition.Set           // keys yet to be queued by queueGranted
	work    []work                  // by bucket
	early   map[object.Key]struct{} // from Enqueue before join
}

// work is the work on one bucket.
type work struct {
	running int     // reconciles, also of earlier tenures
	tenure  *tenure // of the last ones that have begun; nil after Cancel
}

// tenure is a time of one epoch, without Cancel. Its reconciles share a context.
type tenure struct {
	partition.Claim
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newBuckets(r *run) *buckets {
	c := r.controller
	if c.options.Ring == nil {
		return nil
	}
	hub := c.options.Ring.Hub()
	return &buckets{
		run: r, hub: hub, kind: c.kind, calls: make([]sync.Mutex, len(c.watches)),
		wake: make(chan struct{}, 1), work: make([]work, hub.Buckets), early: map[object.Key]struct{}{},
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

// join begins the work, when all informers have synced. Before the hub knows the worker, nothing
// may be queued, as reconciles would be unknown to the ring.
func (b *buckets) join() {
	b.leave = b.hub.AddWorker(b)
	b.mu.Lock()
	early := b.early
	b.joined, b.early = true, nil
	b.mu.Unlock()
	for key := range early {
		b.add(key, workqueue.AddOptions{})
	}
}

// end leaves the hub, after the last reconcile has ended.
func (b *buckets) end() {
	if b != nil && b.leave != nil {
		b.leave()
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
	if b.joined {
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
// Without one, the key itself tells the bucket, except by UID.
func (b *buckets) bucketOf(key object.Key) (bucket int, known bool) {
	if b.hub.By != partition.ByNamespace && b.kind != nil {
		if obj, ok := b.kind.informer.Store().Snapshot().Get(key); ok {
			return b.hub.BucketOf(object.MetaOf(obj)), true
		}
	}
	if b.hub.By == partition.ByUID {
		return 0, false
	}
	return b.hub.BucketOfKey(key.Namespace, key.Name), true
}

func (b *buckets) isHeldLocked(key object.Key) bool {
	if !b.joined { // informers may not have synced
		return false
	}
	bucket, known := b.bucketOf(key)
	return known && b.hub.Epoch(bucket) > 0
}

// holds reports whether the run may reconcile a key. Without a ring, it may always.
func (b *buckets) holds(key object.Key) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isHeldLocked(key)
}

// add queues a key, or drops it if its bucket is not held.
func (b *buckets) add(key object.Key, how workqueue.AddOptions) {
	b.mu.Lock()
	defer b.mu.Unlock() // Options.Tenant may panic
	if b.isHeldLocked(key) {
		b.run.queue.AddWith(key, how)
	}
}

// begin counts a reconcile and sets its context, or returns false if the key's bucket is not held.
func (b *buckets) begin(item *itemContext) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket, known := b.bucketOf(item.key)
	if !known {
		return false
	}
	epoch, w := b.hub.Epoch(bucket), &b.work[bucket]
	if epoch == 0 {
		return false
	}
	if w.tenure == nil || w.tenure.Epoch != epoch {
		b.endTenureLocked(bucket)
		w.tenure = b.newTenure(bucket, epoch)
	}
	w.running++
	item.Context, item.bucket = w.tenure.ctx, int32(bucket)
	return true
}

func (b *buckets) newTenure(bucket int, epoch uint64) *tenure {
	t := &tenure{Claim: partition.Claim{Hub: b.hub, Bucket: bucket, Epoch: epoch}}
	t.ctx, t.cancel = context.WithCancelCause(context.WithValue(b.run.reconcileCtx, partition.ClaimKey{}, &t.Claim))
	return t
}

// done counts the end of a reconcile. It sets handedOver if the reconcile ended because of the
// ring, or after it lost its bucket.
func (b *buckets) done(item *itemContext) {
	if b == nil {
		return
	}
	b.mu.Lock()
	held, w := b.hub.Epoch(int(item.bucket)) > 0, &b.work[item.bucket]
	w.running--
	if !held {
		w.endIdleTenure()
	}
	b.mu.Unlock()
	item.handedOver = !held || errors.Is(context.Cause(item.Context), partition.ErrNotOwned)
	if !held {
		b.hub.Done()
	}
}

// endIdleTenure frees the context of a bucket that is not held, if nothing runs.
func (w *work) endIdleTenure() {
	if w.running == 0 && w.tenure != nil {
		w.tenure.cancel(nil)
		w.tenure = nil
	}
}

// Grant implements [partition.Worker].
func (b *buckets) Grant(set partition.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.granted = b.granted.Or(set)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Revoke implements [partition.Worker].
func (b *buckets) Revoke(set partition.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.granted = b.granted.Without(set)
	for bucket := range set.All() {
		b.work[bucket].endIdleTenure()
	}
	b.run.queue.Purge(func(key object.Key) bool { return !b.isHeldLocked(key) })
}

// Running implements [partition.Worker].
func (b *buckets) Running(bucket int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.work[bucket].running
}

// Cancel implements [partition.Worker].
func (b *buckets) Cancel(set partition.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for bucket := range set.All() {
		b.endTenureLocked(bucket)
	}
}

// endTenureLocked ends the contexts of a bucket's reconciles.
func (b *buckets) endTenureLocked(bucket int) {
	if w := &b.work[bucket]; w.tenure != nil {
		w.tenure.cancel(fmt.Errorf("bucket %d goes to another replica: %w", bucket, partition.ErrNotOwned))
		w.tenure = nil
	}
}

// Queued implements [partition.Worker]. It looks at all keys in the queue.
func (b *buckets) Queued(bucket int) (n int) {
	for _, key := range b.run.queue.Keys() {
		if of, known := b.bucketOf(key); known && of == bucket {
			n++
		}
	}
	return n
}

func (b *buckets) takeGranted() (set partition.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	set, b.granted = b.granted, partition.Set{}
	return set
}

// queueGranted queues the keys of buckets after their grants, until ctx is done. Events from before
// a grant were dropped; the snapshots, which are read after it, have their results.
func (b *buckets) queueGranted(ctx context.Context) {
	for {
		select {
		case <-b.wake:
		case <-ctx.Done():
			return
		}
		set := b.takeGranted()
		if set.IsEmpty() {
			continue
		}
		add := func(key object.Key, how workqueue.AddOptions) {
			if bucket, known := b.bucketOf(key); known && set.Has(bucket) {
				b.add(key, how)
			}
		}
		for n := range b.calls {
			if w := &b.run.controller.watches[n]; w.addAll != nil {
				w.addAll(ctx, w.withDelay(add), b.callsOf(n))
			}
		}
	}
}

// logPanic recovers a panic of a watch's filter or mapping. It is deferred.
func logPanic(ctx context.Context, watch string, obj object.Object) {
	if v := recover(); v != nil {
		klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", v), "Failed to find the keys to reconcile after a grant", "watch", watch,
			"object", textOf(object.KeyOf(obj)), "stack", string(debug.Stack()))
	}
}
