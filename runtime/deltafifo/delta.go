// SPDX-License-Identifier: Apache-2.0

package deltafifo

import "github.com/informer-gen/informer-gen/runtime/object"

// Type is the type of a [Delta]. The first four are also the types of watch events.
type Type uint8

// The types of a [Delta]. Added, Modified, Deleted and Replaced concern one object; the others mark
// a point of the stream.
const (
	// Added is an added object.
	Added Type = iota + 1
	// Modified is a modified object.
	Modified
	// Deleted is a deleted object.
	Deleted
	// Bookmark marks a resourceVersion reached by the stream.
	Bookmark

	// Replaced is an object of a new full state. It may equal the previous object of its key.
	Replaced
	// ReplaceStarted begins a new full state: Replaced deltas follow, and Deleted ones removing
	// objects from it.
	ReplaceStarted
	// ReplaceEnded completes the new full state.
	ReplaceEnded
	// ReplaceAborted ends an incomplete full state.
	ReplaceAborted
)

// String returns the name in capitals, as API servers write the types of watch events.
func (t Type) String() string {
	if int(t) < len(names) {
		return names[t]
	}
	return names[0]
}

var names = [...]string{"UNKNOWN", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "REPLACED", "REPLACE_STARTED", "REPLACE_ENDED", "REPLACE_ABORTED"}

// Delta is one step of a stream.
type Delta[T object.Object] struct {
	// Stream identifies one of the streams sharing a queue. The queue ignores it.
	Stream uint64
	Type   Type
	// Key is the object's key; the zero Key in a mark.
	Key object.Key
	// Object is the object after the change, or the last known state in a Deleted; the zero T in a
	// mark.
	Object T
	// ResourceVersion is the version of the object, ReplaceEnded or Bookmark; "" in the other
	// marks.
	ResourceVersion string
}
