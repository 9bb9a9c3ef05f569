// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Filter reports whether an event queues the keys of a watch. old is nil for an addition, obj for a
// deletion; never both. In a resync both are the same object. A filter is called on the goroutine
// that calls the informer's handlers, one call at a time for each watch, and must not change the
// objects.
//
// A filter decides about events, not objects: an object whose event was dropped is still in the
// cache. All objects pass this package's filters when added, so a starting controller reconciles
// everything once.
type Filter[T object.Object] func(old, obj T) bool

// GenerationChanged is a [Filter] for additions, deletions, and updates that change
// metadata.generation. Changes of the spec and the start of a deletion do; changes of labels,
// annotations or the status don't, so a controller is not called for its own status. Objects of a
// kind without generations always pass.
func GenerationChanged[T object.Object](old, obj T) bool {
	return isNil(old) || isNil(obj) || obj.GetGeneration() == 0 || old.GetGeneration() != obj.GetGeneration()
}

// LabelsChanged is a [Filter] for additions, deletions, and updates that change a label.
func LabelsChanged[T object.Object](old, obj T) bool {
	return isNil(old) || isNil(obj) || !maps.Equal(old.GetLabels(), obj.GetLabels())
}

// isNil reports whether obj is nil, without reflection.
func isNil[T object.Object](obj T) bool {
	var none T
	return any(obj) == any(none)
}
