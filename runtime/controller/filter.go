// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Filter reports whether an event queues the keys of a watch. old is nil if obj was added, obj is
// nil if old was deleted; never are both nil. In a resync both are the same object. It is called on
// the goroutine that calls the handlers of the informer, one call at a time for each watch, and
// must not change the objects.
//
// A filter decides about events, not about objects: an object whose event was dropped is still in
// the cache. Every object passes the filters of this package when it is added, so a controller that
// starts reconciles everything once.
type Filter[T object.Object] func(old, obj T) bool

// GenerationChanged is a [Filter] for additions, deletions, and updates in which
// metadata.generation has changed: those of the spec, and the beginning of a deletion, but not
// those of labels, annotations or the status. So a controller is not called because of its own
// status. Objects whose kind has no generation pass always.
func GenerationChanged[T object.Object](old, obj T) bool {
	return isNil(old) || isNil(obj) || obj.GetGeneration() == 0 || old.GetGeneration() != obj.GetGeneration()
}

// LabelsChanged is a [Filter] for additions, deletions, and updates in which a label has changed.
func LabelsChanged[T object.Object](old, obj T) bool {
	return isNil(old) || isNil(obj) || !maps.Equal(old.GetLabels(), obj.GetLabels())
}

// isNil reports whether obj is nil, without reflection.
func isNil[T object.Object](obj T) bool {
	var none T
	return any(obj) == any(none)
}
