// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

type addFunc func(key object.Key, how workqueue.AddOptions)

// handler queues keys for the events of an informer. It keeps no object: only keys wait, in the
// queue. Its methods are called one at a time.
type handler[T object.Object] struct {
	mapping[T]
	add     addFunc
	filters []Filter[T]
	// buf has the keys of one event. A mapping may return a slice of its own instead, so results
	// are neither kept nor written to.
	buf [8]object.Key
	// calls, unless nil, is held while the mapping and the filters are called.
	calls *sync.Mutex
}

func (h *handler[T]) OnAdd(obj T, isInInitialList bool) {
	var none T
	if h.calls != nil {
		h.calls.Lock()
		defer h.calls.Unlock()
	}
	if h.accepts(none, obj) {
		h.addAll(h.keys(obj, h.buf[:0]), nil, isInInitialList)
	}
	clear(h.buf[:])
}

func (h *handler[T]) OnUpdate(old, obj T) {
	if h.calls != nil {
		h.calls.Lock()
		defer h.calls.Unlock()
	}
	if !h.accepts(old, obj) {
		return
	}
	low := old.GetResourceVersion() == obj.GetResourceVersion()
	added := h.keys(obj, h.buf[:0])
	h.addAll(added, nil, low)
	if h.sameKeys == nil || !h.sameKeys(old, obj) {
		h.addAll(h.keys(old, h.buf[:0:0]), added, low)
	}
	clear(h.buf[:])
}

func (h *handler[T]) OnDelete(d informer.Deleted[T]) {
	var none T
	if h.calls != nil {
		h.calls.Lock()
		defer h.calls.Unlock()
	}
	if h.accepts(d.Object, none) {
		h.addAll(h.keys(d.Object, h.buf[:0]), nil, false)
	}
	clear(h.buf[:])
}

// addRecovered is OnAdd for an initial object, and logs a panic.
func (h *handler[T]) addRecovered(ctx context.Context, watch string, obj T) {
	defer logPanic(ctx, watch, obj)
	h.OnAdd(obj, true)
}

func (h *handler[T]) accepts(old, obj T) bool {
	for _, accepts := range h.filters {
		if !accepts(old, obj) {
			return false
		}
	}
	return true
}

// addAll queues keys, except those just added. It skips that check for long lists: the queue merges
// duplicates anyway.
func (h *handler[T]) addAll(keys, added []object.Key, low bool) {
	var how workqueue.AddOptions
	if low {
		how.Level = workqueue.Low
	}
	for _, key := range keys {
		if len(added) > len(h.buf) || !slices.Contains(added, key) {
			h.add(key, how)
		}
	}
}
