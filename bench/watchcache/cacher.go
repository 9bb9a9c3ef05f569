// SPDX-License-Identifier: Apache-2.0

package main

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
)

const prefix = "/bench.informer-gen.dev/widgets/"

// cacherCache is the cacher of k8s.io/apiserver, set up as by an API server for a custom resource:
// objects are maps, and no field has an index.
type cacherCache struct {
	changes[watch.Event]
	*cacher.Cacher

	objects []unstructured.Unstructured // until the cacher has listed them
	ending  atomic.Bool
	open    []watch.Interface
	readers sync.WaitGroup
}

func newCacher(n int) (*cacherCache, error) {
	c := &cacherCache{}
	c.widgets, c.queue = n, make(chan watch.Event)
	c.event = func(i int, version uint64) watch.Event {
		return watch.Event{Type: watch.Modified, Object: unstructuredWidget(i, version)}
	}
	for i := range n {
		c.version++
		c.objects = append(c.objects, *unstructuredWidget(i, c.version))
	}
	var err error
	c.Cacher, err = cacher.NewCacherFromConfig(cacher.Config{
		Storage:             fakeStorage{cache: c},
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       widgetResource.GroupResource(),
		EventsHistoryWindow: cacher.DefaultEventFreshDuration,
		ResourcePrefix:      prefix,
		KeyFunc: func(o runtime.Object) (string, error) {
			u := o.(*unstructured.Unstructured)
			return prefix + u.GetNamespace() + "/" + u.GetName(), nil
		},
		GetAttrsFunc: attributes,
		NewFunc: func() runtime.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(widgetKind)
			return u
		},
		NewListFunc: func() runtime.Object {
			u := &unstructured.UnstructuredList{}
			u.SetGroupVersionKind(widgetKind.GroupVersion().WithKind(widgetKind.Kind + "List"))
			return u
		},
		Codec: unstructured.UnstructuredJSONScheme,
	})
	if err != nil {
		return nil, err
	}
	if err := c.Wait(context.Background()); err != nil {
		c.close()
		return nil, err
	}
	c.objects = nil
	return c, nil
}

func attributes(o runtime.Object) (labels.Set, fields.Set, error) {
	u := o.(*unstructured.Unstructured)
	return u.GetLabels(), fields.Set{"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace()}, nil
}

// fakeStorage is the storage behind a cacher. Methods not defined here are never called.
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
	return fakeWatch{s.cache.queue}, nil
}

type fakeWatch struct{ events chan watch.Event }

// ResultChan implements watch.Interface.
func (w fakeWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w fakeWatch) Stop() {}

func (c *cacherCache) watch(w watchFuncs) error {
	p := storage.Everything
	p.GetAttrs = attributes
	p.AllowWatchBookmarks = true
	version := strconv.FormatUint(c.version, 10)
	watcher, err := c.Watch(context.Background(), prefix, storage.ListOptions{ResourceVersion: version, Predicate: p, Recursive: true})
	if err != nil {
		return err
	}
	c.open = append(c.open, watcher)
	c.readers.Go(func() {
		write(watcher, w.events)
		if !c.ending.Load() {
			w.ended()
		}
	})
	return nil
}

func (c *cacherCache) endWatches() {
	c.ending.Store(true)
	for _, w := range c.open {
		w.Stop()
	}
	c.open = nil
	c.readers.Wait()
	c.ending.Store(false)
}

func (c *cacherCache) close() {
	c.endWatches()
	c.Stop()
}
