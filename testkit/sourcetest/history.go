// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// history is a collection's past since version 1, or since Restore. A watch cache over a storage in
// memory holds keys, versions, labels and fields, and answers lists and watches. The objects are
// kept beside it, unencoded.
//
// The cache has no goroutine: each change is followed by a Poll.
type history struct {
	// set once at construction
	storage *memory.Storage
	cache   *watchcache.Cache

	// the server's mu guards the fields below, and changes
	objects map[uint64]object.Object // by the version they were stored at
	oldest  uint64                   // first version that requests may name
}

// newHistory returns a history that begins with objects, sorted by version.
func newHistory(objects ...*watchcache.Object) *history {
	storage := memory.New()
	for _, o := range objects {
		must(storage.Apply(watchcache.Event{Type: watch.Added, Object: o, Version: o.Version}))
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage, Bytes: math.MaxInt64})
	must(err)
	must(cache.Poll())
	return &history{storage: storage, cache: cache, objects: map[uint64]object.Object{}}
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("sourcetest: %v", err))
	}
}

func (h *history) add(e watchcache.Event) {
	must(h.storage.Apply(e))
	must(h.cache.Poll())
	h.storage.Compact(e.Version) // the cache has it
}

func (h *history) newest() []*watchcache.Object { return h.at(0) }

func (h *history) at(version uint64) []*watchcache.Object {
	list, err := h.cache.List(context.Background(), watchcache.ListOptions{Exact: version})
	must(err)
	return list.Objects
}

func (h *history) get(key object.Key) object.Object {
	o, err := h.cache.Get(context.Background(), key.String(), 0)
	must(err)
	if o == nil {
		return nil
	}
	return h.objects[o.Version]
}

// reach raises the version, as changes of other collections do.
func (h *history) reach(version uint64) {
	if h.storage.Version() < version {
		h.add(watchcache.Event{Type: watch.Bookmark, Version: version})
	}
}

func (h *history) restored(version uint64) *history {
	objects := h.at(version)
	slices.SortFunc(objects, func(a, b *watchcache.Object) int { return cmp.Compare(a.Version, b.Version) })
	past := newHistory(objects...)
	for _, o := range objects {
		past.objects[o.Version] = h.objects[o.Version]
	}
	past.reach(version)
	past.oldest = version
	return past
}
