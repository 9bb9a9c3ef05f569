// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
)

// Garbage deletes objects whose owners are all gone, as Kubernetes' garbage collector does, and
// finishes foreground and orphaning deletions.
//
// An object whose owner's kind isn't served is kept.
type Garbage struct {
	objects   metadata.Interface
	resources Resources
	changed   <-chan struct{}

	graph *graph
	queue workqueue.TypedRateLimitingInterface[types.UID]

	// used by Run only
	monitors map[schema.GroupVersionResource]*monitor
}

// NewGarbage returns a collector for resources. A value in changed makes it ask for the resources
// again; it may be sent before they have changed.
func NewGarbage(objects metadata.Interface, resources Resources, changed <-chan struct{}) *Garbage {
	return &Garbage{
		objects: objects, resources: resources, changed: changed, graph: newGraph(),
		monitors: map[schema.GroupVersionResource]*monitor{},
	}
}

// Run works until ctx ends, and returns when its goroutines have ended.
func (g *Garbage) Run(ctx context.Context) {
	g.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[types.UID](firstRetry, lastRetry))
	var workers sync.WaitGroup
	g.follow(ctx)
	g.awaitSynced(ctx)
	for range 4 {
		workers.Go(func() { g.work(ctx) })
	}
	for {
		select {
		case <-g.changed:
			g.follow(ctx)
			continue
		case <-ctx.Done():
		}
		break
	}
	g.queue.ShutDown()
	workers.Wait()
	for _, m := range g.monitors {
		m.stop()
		<-m.ended
	}
}

func (g *Garbage) follow(ctx context.Context) {
	now := map[schema.GroupVersionResource]bool{}
	for _, resource := range g.resources() {
		now[resource.GroupVersionResource] = true
		if g.monitors[resource.GroupVersionResource] == nil {
			g.monitors[resource.GroupVersionResource] = g.monitor(ctx, resource)
		}
	}
	for gvr, m := range g.monitors {
		if now[gvr] {
			continue
		}
		m.stop()
		<-m.ended
		delete(g.monitors, gvr)
		for uid := range m.seen {
			g.graph.remove(uid) // with its CRD; nothing follows from that
		}
	}
}

// awaitSynced waits for the monitors' first lists. Before that, owners may seem to be gone. The
// server is asked about each anyway: this only saves requests.
func (g *Garbage) awaitSynced(ctx context.Context) {
	for _, m := range g.monitors {
		select {
		case <-m.synced:
		case <-ctx.Done():
		}
	}
}

func (g *Garbage) enqueue(uids []types.UID) {
	for _, uid := range uids {
		g.queue.Add(uid)
	}
}

func (g *Garbage) work(ctx context.Context) {
	for {
		uid, shutdown := g.queue.Get()
		if shutdown {
			return
		}
		if err := g.advance(ctx, uid); err != nil && ctx.Err() == nil {
			g.queue.AddRateLimited(uid)
		} else {
			g.queue.Forget(uid)
		}
		g.queue.Done(uid)
	}
}
