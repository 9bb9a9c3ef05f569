// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Source lists and watches one collection: a resource, in one namespace or all, restricted by selectors or not.
// What the collection is, a Source learns when it is made; the options of a call only say from where and how.
//
// Both methods block, call back on the caller's goroutine, one call at a time, in the stream's order, and return
// the callback's error unchanged as soon as it has one. Both return context.Cause(ctx) once ctx is done.
// A Source may be used by several goroutines at once.
type Source[T object.Object] interface {
	// List reads one page and calls item for each object as it is decoded.
	List(ctx context.Context, opts ListOptions, item func(T) error) (ListResult, error)

	// Watch opens a stream of events and reads it until it ends. The first event may be long in coming; opened, when
	// not nil, is called once as soon as the server has accepted the watch. A stream that the server closes in good
	// order ends with a nil error.
	Watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[T]) error) error
}

// ListOptions says which page is read, and how fresh it must be. The zero value asks for the most recent state,
// whole.
type ListOptions struct {
	// ResourceVersion is "" for the most recent state, "0" for whatever the server has at hand, else a version that
	// the answer must not be older than (or exactly have, with ResourceVersionMatch "Exact").
	ResourceVersion string
	// ResourceVersionMatch is "", "NotOlderThan" or "Exact".
	ResourceVersionMatch string
	// Limit is the number of objects a page may have; 0 leaves it to the server.
	Limit int64
	// Continue is the token of the page before, "" for the first page.
	Continue string
}

// ListResult is the metadata of a page.
type ListResult struct {
	// ResourceVersion is the version that the list stands at.
	ResourceVersion string
	// Continue asks for the next page; "" after the last one.
	Continue string
}

// WatchOptions says where a watch starts. Bookmarks are always asked for.
type WatchOptions struct {
	// ResourceVersion is the version after which events are wanted.
	ResourceVersion string
	// SendInitialEvents asks for a watch-list (KEP-3157): the present objects first, as Added events, then a Bookmark
	// with InitialEventsEnd, then the changes.
	SendInitialEvents bool
	// Timeout is when the server is asked to end the stream, in whole seconds; 0 leaves it to the server.
	Timeout time.Duration
}

// EventType is what a watch event says. Error events do not appear: a Source returns them as errors.
type EventType uint8

// The types of a watch event.
const (
	Added EventType = iota + 1
	Modified
	Deleted
	Bookmark
)

// String returns the name that the API server uses.
func (t EventType) String() string {
	switch t {
	case Added:
		return "ADDED"
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	case Bookmark:
		return "BOOKMARK"
	}
	return "UNKNOWN"
}

// Event is one change of one object, or a bookmark.
type Event[T object.Object] struct {
	Type EventType
	// Object is the object after the change; of a Deleted event its last state; the zero T of a Bookmark.
	Object T
	// ResourceVersion is that of the object, or of the Bookmark. It is never empty.
	ResourceVersion string
	// InitialEventsEnd marks the Bookmark that ends the initial events of a watch-list.
	InitialEventsEnd bool
}
