// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Claim is a reconcile's bucket and its epoch. Fences look for it in the context of each request.
type Claim struct {
	Hub    *Hub
	Bucket int
	Epoch  uint64
}

// ClaimKey is the key of a *Claim in a context.
type ClaimKey struct{}

// ClaimOf returns the claim in a context, or nil.
func ClaimOf(ctx context.Context) *Claim {
	claim, _ := ctx.Value(ClaimKey{}).(*Claim)
	return claim
}

// Claims counts the reconciles of a worker, ends their contexts, and notes its grants. It
// implements [Worker], except for the queue. Any goroutine may call its methods.
//
//	ring ─ Hub.Grant ──▶ Grants ─▶ IfHeld queues its keys ─▶ Begin ─▶ reconcile ─▶ End ─▶ Hub.Done
//	     ─ Hub.Revoke ─▶ no more IfHeld and Begin                         ▲
//	     ─ Hub.Cancel ─▶ the context is done ─────────────────────────────┘
//
// A bucket is held while its epoch in the hub is not 0. IfHeld and Begin read the epoch in a
// critical section. Revoke, which comes after the change of the epoch, enters it too. So after
// Revoke, no key is queued and no reconcile begins. Grant enters it as well, so Grants queues the
// keys dropped before it.
type Claims struct {
	// set once at construction
	hub    *Hub
	parent context.Context // of the reconciles' contexts
	wake   chan struct{}   // has a value after a grant

	leave   func()         // leaves the hub; set by Join
	running sync.WaitGroup // the reconciles; Add is called with mu
	joined  atomic.Bool    // between Join and Leave; changed with mu

	mu      sync.Mutex // mu guards the fields below; before the locks of the hub and the queue
	granted Set        // not yet passed on by Grants
	work    []work     // by bucket
}

// work is the work on one bucket.
type work struct {
	running int     // reconciles, also of earlier tenures
	tenure  *tenure // of the last ones that have begun; nil after Cancel
}

// tenure is a time of one epoch, without Cancel. Its reconciles share a context.
type tenure struct {
	Claim
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewClaims returns the claims of a new worker. The contexts of reconciles descend from parent.
func NewClaims(parent context.Context, hub *Hub) *Claims {
	return &Claims{hub: hub, parent: parent, wake: make(chan struct{}, 1), work: make([]work, hub.Buckets)}
}

// Join adds w, which has these claims, to the hub. Before, nothing is held: reconciles would be
// unknown to the ring. Join is called once.
func (c *Claims) Join(w Worker) {
	c.leave = c.hub.AddWorker(w)
	c.setJoined(true)
}

// Leave lets no reconcile begin any more, waits until the last one has ended, and leaves the hub.
func (c *Claims) Leave() {
	if c.leave != nil {
		c.setJoined(false)
		c.running.Wait()
		c.leave()
	}
}

func (c *Claims) setJoined(joined bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined.Store(joined)
}

// Grants calls queue with the buckets of each grant, until ctx is done. Grants during a call
// are one more call. queue adds the keys of the existing objects: earlier events were dropped.
func (c *Claims) Grants(ctx context.Context, queue func(granted Set)) {
	for {
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		if granted := c.takeGranted(); !granted.IsEmpty() {
			queue(granted)
		}
	}
}

func (c *Claims) takeGranted() (granted Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	granted, c.granted = c.granted, Set{}
	return granted
}

// Holds reports whether reconciles of a bucket may begin.
func (c *Claims) Holds(bucket int) bool { return c.joined.Load() && c.hub.Epoch(bucket) > 0 }

// IfHeld calls do if reconciles of a bucket may begin, and delays Revoke meanwhile.
func (c *Claims) IfHeld(bucket int, do func()) {
	c.mu.Lock()
	defer c.mu.Unlock() // do may panic
	if c.Holds(bucket) {
		do()
	}
}

// Begin counts a reconcile, and returns its context. ok is false, and the context nil, if it may
// not begin. Otherwise End must be called once.
func (c *Claims) Begin(bucket int) (_ context.Context, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	epoch, w := c.hub.Epoch(bucket), &c.work[bucket]
	if !c.joined.Load() || epoch == 0 {
		return nil, false
	}
	if w.tenure == nil || w.tenure.Epoch != epoch {
		w.cancel(bucket)
		w.tenure = c.newTenure(bucket, epoch)
	}
	w.running++
	c.running.Add(1)
	return w.tenure.ctx, true
}

func (c *Claims) newTenure(bucket int, epoch uint64) *tenure {
	t := &tenure{Claim: Claim{c.hub, bucket, epoch}}
	t.ctx, t.cancel = context.WithCancelCause(context.WithValue(c.parent, ClaimKey{}, &t.Claim))
	return t
}

// End counts the end of a reconcile. held is false if its bucket was revoked.
func (c *Claims) End(bucket int) (held bool) {
	c.mu.Lock()
	held = c.hub.Epoch(bucket) > 0
	w := &c.work[bucket]
	w.running--
	if !held {
		w.endIdle()
	}
	c.mu.Unlock()
	c.running.Done()
	if !held {
		c.hub.Done()
	}
	return held
}

// endIdle frees the context of a revoked bucket, if nothing runs.
func (w *work) endIdle() {
	if w.running == 0 && w.tenure != nil {
		w.tenure.cancel(nil)
		w.tenure = nil
	}
}

// cancel ends the context of a bucket's reconciles.
func (w *work) cancel(bucket int) {
	if w.tenure != nil {
		w.tenure.cancel(fmt.Errorf("bucket %d goes to another replica: %w", bucket, ErrNotOwned))
		w.tenure = nil
	}
}

// Grant implements [Worker].
func (c *Claims) Grant(buckets Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.granted = c.granted.Or(buckets)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Revoke implements [Worker].
func (c *Claims) Revoke(buckets Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.granted = c.granted.Without(buckets)
	for b := range buckets.All() {
		c.work[b].endIdle()
	}
}

// Running implements [Worker].
func (c *Claims) Running(bucket int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.work[bucket].running
}

// Cancel implements [Worker].
func (c *Claims) Cancel(buckets Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range buckets.All() {
		c.work[b].cancel(b)
	}
}
