// SPDX-License-Identifier: Apache-2.0

package deltafifo

import "github.com/informer-gen/informer-gen/runtime/object"

// Type is the type of a [Delta]. The first four are the types of a watch event too.
type Type uint8

// The types of a [Delta]. Added, Modified, Deleted and Replaced are about one object; the others
// are marks of the stream.
const (
	// Added is an object that was added.
	Added Type = iota + 1
	// Modified is an object that was modified.
	Modified
	// Deleted is an object that was deleted.
	Deleted
	// Bookmark marks that the stream has reached a resourceVersion.
	Bookmark

	// Replaced is an object of a new full state. It may or may not differ from the previous one of
	// its key.
	Replaced
	// ReplaceStarted begins a new full state: Replaced deltas follow, and Deleted ones that remove
	// objects from it.
	ReplaceStarted
	// ReplaceEnded completes the new full state.
	ReplaceEnded
	// ReplaceAborted ends a full state that will not be completed.
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
	// Stream tells apart the streams that share a queue. The queue does not look at it.
	Stream uint64
	Type   Type
	// Key is the object's key; the zero Key in a mark.
	Key object.Key
	// Object is the object after the change; in a Deleted its last known state; the zero T in a
	// mark.
	Object T
	// ResourceVersion is the object's, or that of a ReplaceEnded or a Bookmark; "" in the other
	// marks.
	ResourceVersion string
}
