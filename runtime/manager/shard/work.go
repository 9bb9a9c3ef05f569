// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"fmt"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// EpochOf returns the epoch of the grant by which a reconcile with this context works on its
// bucket. It is a fencing token for systems other than the API server: later owners of the bucket
// have higher ones. ok is false if ctx is not that of a reconcile with a ring.
func EpochOf(ctx context.Context) (epoch uint64, ok bool) {
	claim := partition.ClaimOf(ctx)
	if claim == nil {
		return 0, false
	}
	return claim.Epoch, true
}

// Work joins a controller of another library to a ring: it tells which reconciles may begin, and
// the ring waits for those that run. Controllers of package controller have Options.Ring instead.
// Any goroutine may call its methods.
//
// The library keeps its queue. It may queue any keys; those that Begin refuses are dropped.
type Work struct {
	// set once at construction
	hub  *partition.Hub
	wake chan struct{} // has a value after a grant

	running sync.WaitGroup // only its Add is guarded

	mu         sync.Mutex // mu guards the fields below; before the lock of hub
	joined     bool       // Run has begun, and its context is not done
	granted    partition.Set
	reconciles map[*reconciling]struct{}
}

// reconciling is a reconcile that runs.
type reconciling struct {
	partition.Claim
	cancel context.CancelCauseFunc
}

// NewWork returns the Work of one controller. Until its Run is called, no reconcile may begin.
func (r *Ring) NewWork() *Work {
	return &Work{hub: r.hub, wake: make(chan struct{}, 1), reconciles: map[*reconciling]struct{}{}}
}

// Run makes the controller part of the ring until ctx is done. It is called once, when the
// informers of the controller have synced. After each grant, Run calls queue, which queues the keys
// of all objects for which granted returns true, and may wait. Grants that come meanwhile are
// another call. Buckets granted before Run are those of the first call.
//
// When ctx is done, no reconcile may begin any more, and Run returns after the last one has ended.
func (w *Work) Run(ctx context.Context, queue func(granted func(object.Meta) bool)) {
	leave := w.hub.AddWorker(worker{w})
	defer leave()
	w.setJoined(true)
	defer w.running.Wait()
	defer w.setJoined(false)
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
		set := w.takeGranted()
		if set.IsEmpty() {
			continue
		}
		queue(func(o object.Meta) bool {
			bucket, known := w.bucketOf(o)
			return known && set.Has(bucket) && w.hub.Epoch(bucket) > 0
		})
	}
}

// Begin returns ok if this process owns the bucket of an object and the reconcile may begin. Then
// its context, derived from ctx, is that of the clients of [Ring.Fence], and done must be called
// once at its end. The context is cancelled, with a cause that wraps [ErrNotOwned], if the
// reconcile goes on for longer than Options.Grace after its bucket was revoked.
//
// Of an object that is gone, the namespace and the name are enough, except with ByUID: then ok is
// false. done and the returned context are nil if ok is false.
func (w *Work) Begin(ctx context.Context, o object.Meta) (_ context.Context, done func(), ok bool) {
	bucket, known := w.bucketOf(o)
	if !known {
		return nil, nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	epoch := w.hub.Epoch(bucket)
	if !w.joined || epoch == 0 {
		return nil, nil, false
	}
	r := &reconciling{Claim: partition.Claim{Hub: w.hub, Bucket: bucket, Epoch: epoch}}
	ctx, r.cancel = context.WithCancelCause(context.WithValue(ctx, partition.ClaimKey{}, &r.Claim))
	w.reconciles[r] = struct{}{}
	w.running.Add(1)
	return ctx, func() { w.end(r) }, true
}

func (w *Work) end(r *reconciling) {
	r.cancel(nil)
	w.mu.Lock()
	delete(w.reconciles, r)
	w.mu.Unlock()
	w.running.Done()
	if w.hub.Epoch(r.Bucket) != r.Epoch {
		w.hub.Done()
	}
}

func (w *Work) bucketOf(o object.Meta) (bucket int, known bool) {
	if w.hub.By == partition.ByUID && o.UID == "" {
		return 0, false
	}
	return w.hub.BucketOf(o), true
}

func (w *Work) setJoined(joined bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.joined = joined
}

func (w *Work) takeGranted() (set partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set, w.granted = w.granted, partition.Set{}
	return set
}

// worker is a Work as the ring sees it.
type worker struct{ *Work }

var _ partition.Worker = worker{}

// Grant implements [partition.Worker].
func (w worker) Grant(set partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.granted = w.granted.Or(set)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Revoke implements [partition.Worker]. Begin refuses the keys that wait.
func (w worker) Revoke(set partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.granted = w.granted.Without(set)
}

// Running implements [partition.Worker].
func (w worker) Running(bucket int) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.reconciles {
		if r.Bucket == bucket {
			n++
		}
	}
	return n
}

// Cancel implements [partition.Worker].
func (w worker) Cancel(set partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.reconciles {
		if set.Has(r.Bucket) {
			r.cancel(fmt.Errorf("bucket %d goes to another replica: %w", r.Bucket, ErrNotOwned))
		}
	}
}

// Queued implements [partition.Worker]. The library's queue can't be asked.
func (w worker) Queued(int) int { return 0 }
