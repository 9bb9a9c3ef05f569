// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

type ours struct {
	*watchcache.Cache
	changes[watchcache.Event]

	objects []*watchcache.Object // until the cache has listed them
	stop    context.CancelFunc
	done    chan struct{} // closed when the cache has ended
	open    []*watchcache.Watcher
}

// newOurs returns a cache of n widgets that runs until close is called.
func newOurs(n int) (*ours, error) {
	o := &ours{done: make(chan struct{})}
	o.widgets, o.queue = n, make(chan watchcache.Event)
	o.event = func(i int, version uint64) watchcache.Event {
		return watchcache.Event{Type: watch.Modified, Object: widgetObject(i, version), Version: version}
	}
	for i := range n {
		o.version++
		o.objects = append(o.objects, widgetObject(i, o.version))
	}
	var err error
	if o.Cache, err = watchcache.New(watchcache.Config{Storage: source{o}}); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	o.stop = stop
	go func() {
		defer close(o.done)
		_ = o.Run(ctx) // its error is the cause of ctx
	}()
	if err := o.WaitReady(ctx); err != nil {
		o.close()
		return nil, err
	}
	o.objects = nil
	return o, nil
}

type source struct{ *ours }

// List implements watchcache.Storage.
func (s source) List(context.Context) ([]*watchcache.Object, uint64, error) {
	return s.objects, s.version, nil
}

// Watch implements watchcache.Storage.
func (s source) Watch(ctx context.Context, _ uint64, emit func(watchcache.Event) error) error {
	for {
		select {
		case e := <-s.queue:
			if err := emit(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *ours) watch(w watchFuncs) error {
	watcher, err := o.Watch(context.Background(), watchcache.WatchOptions{
		After:  o.version,
		Format: watchcache.JSON{APIVersion: widgetKind.GroupVersion().String(), Kind: widgetKind.Kind},
		Receive: func(events []watchcache.Event, err error) bool {
			if err != nil {
				w.ended()
				return true
			}
			for _, e := range events {
				_, _ = io.Discard.Write(e.Frame)
			}
			w.events(len(events))
			return true
		},
	})
	if err != nil {
		return err
	}
	o.open = append(o.open, watcher)
	return nil
}

func (o *ours) endWatches() {
	for _, w := range o.open {
		w.Close()
	}
	o.open = nil
}

func (o *ours) close() {
	o.endWatches()
	o.stop()
	<-o.done
}
