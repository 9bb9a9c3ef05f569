// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

type add func(key object.Key, how workqueue.AddOptions)

// handler queues keys for the events of an informer. It keeps no object: only keys wait, in the
// queue. Its methods are called one at a time.
type handler[T object.Object] struct {
	mapping[T]
	add     add
	filters []Filter[T]
	// room is for the keys of one event. A mapping may return a slice of its own instead, so
	// results are neither kept nor written to.
	room [8]object.Key
}

func (h *handler[T]) OnAdd(obj T, isInInitialList bool) {
	var none T
	if h.accepts(none, obj) {
		h.addAll(h.keys(obj, h.room[:0]), nil, isInInitialList)
	}
	clear(h.room[:])
}

func (h *handler[T]) OnUpdate(old, obj T) {
	if !h.accepts(old, obj) {
		return
	}
	low := old.GetResourceVersion() == obj.GetResourceVersion()
	added := h.keys(obj, h.room[:0])
	h.addAll(added, nil, low)
	if h.same == nil || !h.same(old, obj) {
		h.addAll(h.keys(old, h.room[:0:0]), added, low)
	}
	clear(h.room[:])
}

func (h *handler[T]) OnDelete(d informer.Deleted[T]) {
	var none T
	if h.accepts(d.Object, none) {
		h.addAll(h.keys(d.Object, h.room[:0]), nil, false)
	}
	clear(h.room[:])
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
		if len(added) > len(h.room) || !slices.Contains(added, key) {
			h.add(key, how)
		}
	}
}
