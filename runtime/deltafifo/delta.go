// SPDX-License-Identifier: Apache-2.0

package deltafifo

import "github.com/informer-gen/informer-gen/runtime/object"

// Type says what kind of step a Delta is.
type Type uint8

// The types of a Delta. The first five are about one object; the rest are marks of the stream.
const (
	// Added is an object that appeared.
	Added Type = iota + 1
	// Modified is an object that changed.
	Modified
	// Deleted is an object that disappeared.
	Deleted
	// Replaced is an object of a new full state, which may or may not differ from what was known of
	// it.
	Replaced
	// Sync is an object that did not change and should be looked at again.
	Sync

	// ReplaceStarted begins a new full state: Replaced deltas follow, and Deleted ones that take
	// objects out of it.
	ReplaceStarted
	// ReplaceEnded says that the new full state is complete.
	ReplaceEnded
	// ReplaceAborted says that it will not be completed.
	ReplaceAborted
	// Bookmark says that the stream has come to a resourceVersion.
	Bookmark
)

// String returns the name of the constant.
func (t Type) String() string {
	names := [...]string{"Unknown", "Added", "Modified", "Deleted", "Replaced", "Sync", "ReplaceStarted", "ReplaceEnded", "ReplaceAborted", "Bookmark"}
	if int(t) < len(names) {
		return names[t]
	}
	return names[0]
}

// Delta is one step of the stream.
type Delta[T object.Object] struct {
	Type Type
	// Key is the object's; the zero Key in a mark.
	Key object.Key
	// Object is the object after the change; of a Deleted its last known state; the zero T in a
	// mark.
	Object T
	// ResourceVersion is the object's, or the one that a ReplaceEnded or a Bookmark carries; "" in
	// the other marks.
	ResourceVersion string
	// FinalStateUnknown marks a Deleted that Pop found because a full state lacked the object, so
	// Object may be older than what was deleted. PopBatch never sets it.
	FinalStateUnknown bool
}

// Deltas are what happened to one object, oldest first. Pop never hands over an empty one.
type Deltas[T object.Object] []Delta[T]

// Oldest returns the first delta; ok is false if there is none.
func (d Deltas[T]) Oldest() (delta Delta[T], ok bool) {
	if len(d) == 0 {
		return delta, false
	}
	return d[0], true
}

// Newest returns the last delta; ok is false if there is none.
func (d Deltas[T]) Newest() (delta Delta[T], ok bool) {
	if len(d) == 0 {
		return delta, false
	}
	return d[len(d)-1], true
}
