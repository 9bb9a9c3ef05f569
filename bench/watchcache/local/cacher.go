// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"

	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// prefix is where the cacher has the widgets.
const prefix = "/bench.informer-gen.dev/widgets/"

// cacherCache is the cacher of k8s.io/apiserver, set up as an API server does for a custom
// resource: objects are maps, and no field has an index.
type cacherCache struct {
	changes[watch.Event]
	*cacher.Cacher

	objects []unstructured.Unstructured // until the cacher has listed them
	ending  atomic.Bool
	open    []watch.Interface
	readers sync.WaitGroup
}

func newCacher(ctx context.Context, widgets widget.Set) (*cacherCache, error) {
	c := &cacherCache{}
	c.widgets, c.events = widgets, make(chan watch.Event)
	c.event = func(i int, version uint64) watch.Event {
		return watch.Event{Type: watch.Modified, Object: widgets.Unstructured(i, version)}
	}
	for i := range widgets.Len {
		c.version++
		c.objects = append(c.objects, *widgets.Unstructured(i, c.version))
	}
	var err error
	c.Cacher, err = cacher.NewCacherFromConfig(cacher.Config{
		Storage:             fakeStorage{cache: c},
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       widget.Resource.GroupResource(),
		EventsHistoryWindow: cacher.DefaultEventFreshDuration,
		ResourcePrefix:      prefix,
		KeyFunc: func(o runtime.Object) (string, error) {
			u := o.(*unstructured.Unstructured)
			return prefix + u.GetNamespace() + "/" + u.GetName(), nil
		},
		GetAttrsFunc: attributes,
		NewFunc: func() runtime.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(widget.Kind)
			return u
		},
		NewListFunc: func() runtime.Object {
			u := &unstructured.UnstructuredList{}
			u.SetGroupVersionKind(widget.Kind.GroupVersion().WithKind(widget.Kind.Kind + "List"))
			return u
		},
		Codec: unstructured.UnstructuredJSONScheme,
	})
	if err != nil {
		return nil, err
	}
	if err := c.Wait(ctx); err != nil {
		c.Close()
		return nil, err
	}
	c.objects = nil
	return c, nil
}

// attributes returns what selectors see of a widget.
func attributes(o runtime.Object) (labels.Set, fields.Set, error) {
	u := o.(*unstructured.Unstructured)
	node, _, _ := unstructured.NestedString(u.Object, "spec", "node")
	return u.GetLabels(), fields.Set{
		"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace(), widget.NodeField: node,
	}, nil
}

// fakeStorage is where a cacher has its objects from. What it has not got is never called.
type fakeStorage struct {
	storage.Interface
	cache *cacherCache
}

// IsWatchListSemanticsUnSupported makes the cacher list.
func (fakeStorage) IsWatchListSemanticsUnSupported() bool { return true }

// Versioner implements storage.Interface.
func (fakeStorage) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

// RequestWatchProgress implements storage.Interface.
func (fakeStorage) RequestWatchProgress(context.Context) error { return nil }

// EnableResourceSizeEstimation implements storage.Interface.
func (fakeStorage) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements storage.Interface.
func (fakeStorage) CompactRevision() int64 { return 0 }

// ReadinessCheck implements storage.Interface.
func (fakeStorage) ReadinessCheck() error { return nil }

// GetList implements storage.Interface.
func (s fakeStorage) GetList(_ context.Context, _ string, _ storage.ListOptions, list runtime.Object) error {
	l := list.(*unstructured.UnstructuredList)
	l.Items = s.cache.objects
	l.SetResourceVersion(strconv.Itoa(len(l.Items)))
	return nil
}

// Watch implements storage.Interface.
func (s fakeStorage) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return fakeWatch{s.cache.events}, nil
}

// fakeWatch is the only watch of a storage.
type fakeWatch struct{ events chan watch.Event }

// ResultChan implements watch.Interface.
func (w fakeWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w fakeWatch) Stop() {}

// Watch implements [Cache].
func (c *cacherCache) Watch(w Watch) error {
	p := storage.Everything
	p.GetAttrs = attributes
	p.AllowWatchBookmarks = true
	if w.Node != "" {
		p.Field = fields.OneTermEqualSelector(widget.NodeField, w.Node)
	}
	version := strconv.FormatUint(c.version, 10)
	watcher, err := c.Cacher.Watch(context.Background(), prefix, storage.ListOptions{ResourceVersion: version, Predicate: p, Recursive: true})
	if err != nil {
		return err
	}
	c.open = append(c.open, watcher)
	if w.Events == nil {
		return nil
	}
	read := receive
	if w.Bytes {
		read = write
	}
	c.readers.Go(func() {
		read(watcher, w.Events)
		if !c.ending.Load() {
			w.Ended()
		}
	})
	return nil
}

// receive reads a watch until it ends.
func receive(from watch.Interface, events func(int)) {
	for e := range from.ResultChan() {
		if e.Type != watch.Bookmark {
			events(1)
		}
	}
}

// EndWatches implements [Cache].
func (c *cacherCache) EndWatches() {
	c.ending.Store(true)
	for _, w := range c.open {
		w.Stop()
	}
	c.open = nil
	c.readers.Wait()
	c.ending.Store(false)
}

// Close implements [Cache].
func (c *cacherCache) Close() {
	c.EndWatches()
	c.Stop()
}
