// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// Gate is a fence with a door for each bucket of a ring. A request whose context has a
// [partition.Claim] of the ring passes while the term is open, and its bucket is open at the epoch
// of the claim. Other requests pass by the term alone, and are counted.
//
// One goroutine, the ring's, calls Begin, Open and Shut. Any may call the other methods.
type Gate struct {
	// set once at construction
	fence   *Fence
	hub     *partition.Hub
	buckets []bucket

	unclaimed atomic.Uint64
	member    string // only the ring's goroutine uses it
}

// bucket is the door of a bucket.
type bucket struct {
	mu    sync.Mutex         // mu guards the fields below
	epoch uint64             // of the claims that pass; 0 while it is shut
	agent string             // names them in the User-Agent
	calls map[*call]struct{} // that have passed at this epoch
	cause error              // of the last Shut
	idle  chan struct{}      // result of the last Shut
}

// NewGate returns a gate without a term, with all buckets of the hub shut. The errors are those of
// [New]; closed is also the error of requests whose claim is not, or no longer, that of its bucket.
func NewGate(hub *partition.Hub, closed, expired error) *Gate {
	g := &Gate{fence: New(closed, expired), hub: hub, buckets: make([]bucket, hub.Buckets)}
	for b := range g.buckets {
		g.buckets[b].cause = closed
	}
	return g
}

// Begin shuts all buckets and begins a term, as [Fence.Begin]. member is the name of this process
// in the User-Agent of requests with a claim.
func (g *Gate) Begin(parent context.Context, member string) *Term {
	for b := range g.buckets {
		g.Shut(b, g.fence.closed)
	}
	g.member = member
	return g.fence.Begin(parent)
}

// Open lets requests with a claim at this epoch pass, and shuts the bucket for those at another
// one. Epochs of a bucket must grow. A ring opens the gate before it tells workers of a grant.
func (g *Gate) Open(bucket int, epoch uint64) {
	b := &g.buckets[bucket]
	b.mu.Lock()
	same, open := b.epoch == epoch, b.epoch != 0
	b.mu.Unlock()
	switch {
	case same:
		return
	case open:
		g.Shut(bucket, fmt.Errorf("%w any more: it was granted again, at epoch %d", g.fence.closed, epoch))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.epoch, b.calls = epoch, map[*call]struct{}{}
	b.agent = fmt.Sprintf("(shard %s %d@%d)", g.member, bucket, epoch)
}

// Shut refuses requests of a bucket with cause, until the next Open, and cuts off pending ones:
// contexts are cancelled with cause, bodies are not read further, and responses end. After Shut has
// returned, no byte of any of them leaves the process. The channel is closed when the transport has
// returned from all of them, which says the same for a transport that does not report its
// connections by package httptrace.
//
// Bytes of a request may wait in the process or in its kernel. So Shut resets the connection of
// each request that the server may not have yet: it had a body, or no response has begun. With
// HTTP/2, other requests on that connection fail too, also new ones until the transport notices;
// their callers must send them again. A ring shuts a bucket with pending requests only if a
// reconcile goes on after its Grace, so it is rare.
func (g *Gate) Shut(bucket int, cause error) (idle <-chan struct{}) {
	b := &g.buckets[bucket]
	b.mu.Lock()
	if b.epoch == 0 && b.idle != nil {
		defer b.mu.Unlock()
		return b.idle
	}
	calls, ended := b.calls, make(chan struct{})
	b.epoch, b.calls, b.cause, b.idle = 0, nil, cause, ended
	b.mu.Unlock()
	var running atomic.Int64
	running.Store(int64(len(calls)) + 1)
	done := func() {
		if running.Add(-1) == 0 {
			close(ended)
		}
	}
	for c := range calls {
		c.cut(cause, done)
	}
	done()
	return ended
}

// Wrap returns a copy of config as [Fence.Wrap] does. Requests with a claim name the member, the
// bucket and the epoch in the User-Agent: "widgets/v1 (shard widgets-0-k2p4 17@5)".
func (g *Gate) Wrap(config *rest.Config) *rest.Config {
	config = g.fence.wrap(config, g)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return config
}

// JumpWallClock is [Fence.JumpWallClock].
func (g *Gate) JumpWallClock(d time.Duration) { g.fence.JumpWallClock(d) }

// Unclaimed returns the number of requests that passed without a claim of the hub.
func (g *Gate) Unclaimed() uint64 { return g.unclaimed.Load() }

// claimOf returns the claim of the hub in a context. It is nil without one, and for a nil Gate.
func (g *Gate) claimOf(ctx context.Context) *partition.Claim {
	if g == nil {
		return nil
	}
	if claim := partition.ClaimOf(ctx); claim != nil && claim.Hub == g.hub {
		return claim
	}
	return nil
}

// admit lets a call pass, or returns why it may not.
func (g *Gate) admit(c *call, claim *partition.Claim) error {
	if claim == nil {
		g.unclaimed.Add(1)
		return nil
	}
	b := &g.buckets[claim.Bucket]
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.epoch {
	case 0:
		return b.cause
	case claim.Epoch:
		c.bucket, c.agent = b, b.agent
		b.calls[c] = struct{}{}
		return nil
	}
	return fmt.Errorf("%w at epoch %d, but at epoch %d", g.fence.closed, claim.Epoch, b.epoch)
}

func (b *bucket) remove(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.calls, c)
}
