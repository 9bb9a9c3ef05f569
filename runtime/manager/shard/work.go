// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// EpochOf returns the epoch of the grant by which a reconcile with this context works on its
// bucket. It is a fencing token for systems other than the API server: later owners of the bucket
// have higher ones. ok is false if ctx is not a context of a reconcile with a ring.
func EpochOf(ctx context.Context) (epoch uint64, ok bool) {
	claim := partition.ClaimOf(ctx)
	if claim == nil {
		return 0, false
	}
	return claim.Epoch, true
}

// Work joins a controller of another library to a ring. It decides which reconciles may begin, and
// the ring waits for running ones. Make one with [Ring.NewWork]; controllers of package controller
// have Options.Ring instead. Any goroutine may call its methods.
//
// The library keeps its queue. It may queue any keys; those that Begin refuses are dropped.
type Work struct {
	hub    *partition.Hub
	claims *partition.Claims
}

// NewWork returns the Work of one controller. Until its Run is called, no reconcile may begin.
func (r *Ring) NewWork() *Work {
	return &Work{hub: r.hub, claims: partition.NewClaims(context.Background(), r.hub)}
}

// Run makes the controller part of the ring until ctx is done. It is called once, when the
// informers of the controller have synced. After each grant, Run calls queue, which queues the keys
// of the granted objects, and may wait. Grants during a call are another call. The first call is
// for the buckets granted before Run.
//
// When ctx is done, no reconcile may begin any more, and Run returns after the last one has ended.
func (w *Work) Run(ctx context.Context, queue func(granted func(object.Meta) bool)) {
	w.claims.Join(worker{w.claims})
	defer w.claims.Leave()
	w.claims.Grants(ctx, func(granted partition.Set) {
		queue(func(o object.Meta) bool {
			bucket, known := w.hub.Locate(o)
			return known && granted.Has(bucket) && w.claims.Holds(bucket)
		})
	})
}

// Begin returns ok if this process owns the bucket of an object and the reconcile may begin. Then
// its context, derived from ctx, is for requests of the clients of [Ring.Fence], and done must be
// called once at its end. The context is cancelled, with a cause that wraps [ErrNotOwned], if the
// reconcile goes on for longer than Options.Grace after its bucket was revoked.
//
// Of a deleted object, the namespace and the name are enough, except with ByUID: then ok is
// false. done and the returned context are nil if ok is false.
func (w *Work) Begin(ctx context.Context, o object.Meta) (_ context.Context, done func(), ok bool) {
	bucket, known := w.hub.Locate(o)
	if !known {
		return nil, nil, false
	}
	claimed, ok := w.claims.Begin(bucket)
	if !ok {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, partition.ClaimKey{}, partition.ClaimOf(claimed)))
	detach := context.AfterFunc(claimed, func() { cancel(context.Cause(claimed)) })
	return ctx, func() {
		detach()
		cancel(nil)
		w.claims.End(bucket)
	}, true
}

// worker is a Work as the ring sees it.
type worker struct{ *partition.Claims }

// Queued implements [partition.Worker]. The library's queue can't be asked.
func (worker) Queued([]int) {}
