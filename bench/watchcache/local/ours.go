// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Ours is a watch cache of this module.
type Ours struct {
	*watchcache.Cache
	changes[watchcache.Event]

	objects []*watchcache.Object // until the cache has listed them
	stop    context.CancelFunc
	done    chan struct{} // closed when the cache has ended
	open    []*watchcache.Watcher
}

// NewOurs returns a cache of widgets that runs until Close is called.
func NewOurs(ctx context.Context, widgets widget.Set) (*Ours, error) {
	o := &Ours{done: make(chan struct{})}
	o.widgets, o.events = widgets, make(chan watchcache.Event)
	o.event = func(i int, version uint64) watchcache.Event {
		return watchcache.Event{Type: watch.Modified, Object: widgets.Object(i, version), Version: version}
	}
	for i := range widgets.Len {
		o.version++
		o.objects = append(o.objects, widgets.Object(i, o.version))
	}
	var err error
	if o.Cache, err = watchcache.New(watchcache.Config{Storage: source{o}}); err != nil {
		return nil, err
	}
	ctx, o.stop = context.WithCancel(ctx)
	go func() {
		defer close(o.done)
		_ = o.Run(ctx) // its error is why ctx has ended
	}()
	if err := o.WaitReady(ctx); err != nil {
		o.Close()
		return nil, err
	}
	o.objects = nil
	return o, nil
}

// source is where an Ours has its objects from.
type source struct{ *Ours }

// List implements watchcache.Storage.
func (s source) List(context.Context) ([]*watchcache.Object, uint64, error) {
	return s.objects, s.version, nil
}

// Watch implements watchcache.Storage.
func (s source) Watch(ctx context.Context, _ uint64, emit func(watchcache.Event) error) error {
	for {
		select {
		case e := <-s.events:
			if err := emit(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Watch implements [Cache].
func (o *Ours) Watch(w Watch) error {
	options := watchcache.WatchOptions{After: o.version, Receive: func(events []watchcache.Event, err error) bool {
		switch {
		case err != nil:
			w.Ended()
			return true
		case w.Events == nil:
			return false
		}
		if w.Bytes {
			for _, e := range events {
				_, _ = io.Discard.Write(e.Frame)
			}
		}
		w.Events(len(events))
		return true
	}}
	if w.Bytes {
		options.Format = watchcache.JSON{APIVersion: widget.Kind.GroupVersion().String(), Kind: widget.Kind.Kind}
	}
	if w.Node != "" {
		options.Filter.Fields = fields.OneTermEqualSelector(widget.NodeField, w.Node)
	}
	watcher, err := o.Cache.Watch(context.Background(), options)
	if err != nil {
		return err
	}
	o.open = append(o.open, watcher)
	return nil
}

// EndWatches implements [Cache].
func (o *Ours) EndWatches() {
	for _, w := range o.open {
		w.Close()
	}
	o.open = nil
}

// Close implements [Cache].
func (o *Ours) Close() {
	o.EndWatches()
	o.stop()
	<-o.done
}
