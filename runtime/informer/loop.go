// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// loop is the handler behind Events: it hands each event to the goroutine that runs the loop, and
// returns when the body has handled it.
type loop struct {
	events  chan Change[object.Object]
	handled chan struct{}
	ended   chan struct{} // closed at the loop's end
}

func loopOver(ctx context.Context, e *engine.Informer, opts []HandlerOption, yield func(Change[object.Object]) bool) {
	if ctx == nil {
		klog.Background().Error(errNilContext, "The loop over events can't begin", "informer", e.Name())
		return
	}
	l := loop{events: make(chan Change[object.Object]), handled: make(chan struct{}), ended: make(chan struct{})}
	r, err := register(e, l, "Events", opts)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The loop over events can't begin", "informer", e.Name())
		return
	}
	defer r.Remove()     // waits for the callback
	defer close(l.ended) // lets the callback return
	l.run(ctx, r.Synced(), yield)
}

func (l loop) OnAdd(obj object.Object, initial bool) {
	l.deliver(Change[object.Object]{Type: source.Added, Key: object.KeyOf(obj), Object: obj, IsInInitialList: initial})
}

func (l loop) OnUpdate(old, obj object.Object) {
	l.deliver(Change[object.Object]{Type: source.Modified, Key: object.KeyOf(obj), Object: obj, Old: old})
}

func (l loop) OnDelete(d fanout.Deleted) {
	l.deliver(Change[object.Object]{Type: source.Deleted, Key: d.Key, Object: d.Object, FinalStateUnknown: d.FinalStateUnknown})
}

func (l loop) deliver(e Change[object.Object]) {
	select {
	case l.events <- e:
	case <-l.ended:
		return
	}
	select {
	case <-l.handled:
	case <-l.ended:
	}
}

func (l loop) run(ctx context.Context, synced <-chan struct{}, yield func(Change[object.Object]) bool) {
	yieldBookmark := func() bool {
		synced = nil
		return yield(Change[object.Object]{Type: source.Bookmark})
	}
	for ctx.Err() == nil {
		select {
		case e := <-l.events:
			// The registration syncs before its next callback, so the Bookmark is in order.
			if !e.IsInInitialList && outcome.Closed(synced) && !yieldBookmark() {
				return
			}
			if !yield(e) {
				return
			}
			l.handled <- struct{}{}
		case <-synced:
			if !yieldBookmark() {
				return
			}
		case <-ctx.Done():
		}
	}
}
