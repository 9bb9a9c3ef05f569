// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Source lists and watches one collection: a resource, in one namespace or all, restricted by
// selectors or not. The collection is fixed when a Source is made; the options of a call only
// choose where to start and how to read.
//
// Both methods block, call back on the caller's goroutine, one call at a time, in the stream's
// order, and return the callback's error unchanged as soon as it has one. Both return
// context.Cause(ctx) once ctx is done. A Source may be used by several goroutines at once.
type Source[T object.Object] interface {
	// List reads one page and calls item for each object as it is decoded.
	List(ctx context.Context, opts ListOptions, item func(T) error) (ListResult, error)

	// Watch opens a stream of events and reads it until it ends. The first event may take long to
	// come; opened, if not nil, is called once, before any event, when the server has accepted the
	// watch. A stream that the server ends normally returns nil.
	Watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[T]) error) error
}

// ListOptions choose the page to read and how fresh it must be. The zero value asks for the most
// recent state, whole.
type ListOptions struct {
	// ResourceVersion is "" for the most recent state and "0" for any state that the server has
	// cached. Any other value is the oldest version that the list may have (or the exact one, with
	// ResourceVersionMatch "Exact").
	ResourceVersion string
	// ResourceVersionMatch is "", "NotOlderThan" or "Exact".
	ResourceVersionMatch string
	// Limit is the largest number of objects that a page may have; 0 leaves it to the server.
	Limit int64
	// Continue is the token from the result of the page before; "" for the first page.
	Continue string
	// VersionOnly means that the caller needs only the ListResult and ignores the objects. A Source
	// may hand over none of them, and a Source that wraps another need not look at them.
	VersionOnly bool
	// Anew is set when the server's versions went back, as after a restored backup. An object that
	// was handed over before may then differ from the server's object of the same version. So a
	// Source that wraps another must not reuse anything that it has kept; Known is nil.
	Anew bool

	// ReadOnly promises that the caller never changes the objects that it is given, nor anything
	// that they refer to. Then a Source may share equal parts (maps, slices, pointers) between all
	// objects that it has handed over to such callers. Otherwise every object owns its parts, of
	// which strings may be shared, because they can't be changed. A Source may ignore the promise.
	ReadOnly bool
	// Known, if not nil, returns the object that the caller already has with exactly this key, uid
	// and resourceVersion, or nil if there is none. It is called for each object of the list. An
	// object that it returns has the Source's type. That object is handed over as it is, in place
	// of the server's, which is checked but not decoded. Known is called on the goroutine of List,
	// one call at a time, ahead of the callback, and maybe more than once for an object. A Source
	// need not call it at all.
	Known func(key object.Key, uid types.UID, resourceVersion string) object.Object
}

// ListResult is the metadata of a page.
type ListResult struct {
	// ResourceVersion is the version of the list. It is never "" or "0".
	ResourceVersion string
	// Continue asks for the next page; "" after the last one.
	Continue string
	// Skipped is the number of objects that the page had and that were not handed over, because
	// they are not of the collection. (HTTP applies its ShardSelector to the pages of servers that
	// don't.)
	Skipped int
}

// WatchOptions choose where a watch starts. A Source always asks for bookmarks.
type WatchOptions struct {
	// ResourceVersion is the version after which events are wanted.
	ResourceVersion string
	// SendInitialEvents asks for a watch-list (KEP-3157): the existing objects first, as Added
	// events, then a Bookmark with InitialEventsEnd, then the changes. A Source that has none,
	// whatever its server, returns an error that wraps errors.ErrUnsupported. A reflector then
	// lists at once, and doesn't count that as a failure.
	SendInitialEvents bool
	// Timeout is when the server is asked to end the stream, in whole seconds; 0 leaves it to the
	// server.
	Timeout time.Duration
	// Anew is set when the server's versions went back, as after a restored backup. An object that
	// was handed over before may then differ from the server's object of the same version. So a
	// Source that wraps another must not reuse anything that it has kept; Known is nil.
	Anew bool

	// ReadOnly promises that the caller never changes the objects that it is given, nor anything
	// that they refer to. Then a Source may share equal parts (maps, slices, pointers) between all
	// objects that it has handed over to such callers. Otherwise every object owns its parts, of
	// which strings may be shared, because they can't be changed. A Source may ignore the promise.
	ReadOnly bool
	// Known, if not nil, returns the object that the caller already has with exactly this key, uid
	// and resourceVersion, or nil if there is none. It is called for each Added event. An object
	// that it returns has the Source's type. That object is handed over as it is, in place of the
	// server's, which is checked but not decoded. Known is called on the goroutine of Watch, one
	// call at a time, ahead of the callback, and maybe more than once for an object. A Source need
	// not call it at all.
	Known func(key object.Key, uid types.UID, resourceVersion string) object.Object
}

// EventType is the type of a watch event. There is none for ERROR events: a Source returns them as
// errors.
type EventType = deltafifo.Type

// The types of a watch event.
const (
	Added    = deltafifo.Added
	Modified = deltafifo.Modified
	Deleted  = deltafifo.Deleted
	Bookmark = deltafifo.Bookmark
)

// Event is one change of one object, or a bookmark.
type Event[T object.Object] struct {
	Type EventType
	// Object is the object after the change; of a Deleted event its last state; the zero T of a
	// Bookmark.
	Object T
	// ResourceVersion is the version of the object or of the Bookmark. It is never "" or "0".
	ResourceVersion string
	// InitialEventsEnd marks the Bookmark that ends the initial events of a watch-list.
	InitialEventsEnd bool
	// More means that the next event has arrived already: unless the watch ends with an error
	// first, it is handed over without waiting for the server. A caller may put off what it does
	// about this event until then. A Source that can't tell leaves it false, and so does one that
	// wraps another and may leave the next event out.
	More bool
}

// The reasons of a DecodeError other than errors of the formats' decoders. errors.Is finds them.
var (
	// ErrWrongFormat means an answer in another format than those that were asked for, such as a
	// page of HTML.
	ErrWrongFormat = errors.New("wrong format")
	// ErrWrongKind means an answer or an object of another apiVersion or kind than those that were
	// asked for.
	ErrWrongKind = decode.ErrWrongKind
	// ErrMalformed means a response that is not a list or a sequence of events, although it may be
	// well-formed JSON. It also means an event of a type other than ADDED, MODIFIED,
	// DELETED, BOOKMARK and ERROR, a response that ends too early, and an object without
	// metadata.name; or a list, an object or a bookmark without metadata.resourceVersion, or with
	// "0". No state has the version "0", and a watch from it begins anywhere.
	ErrMalformed = decode.ErrMalformed
)

// DecodeError reports that a response can't be used, and where in the stream. The items before that
// position have been handed over; the item there and those after it have not.
type DecodeError struct {
	// Verb is "list" or "watch", or for a request about one object "get", "create", "update",
	// "patch" or "delete".
	Verb string
	// Resource is the resource that was asked for.
	Resource schema.GroupVersionResource
	// Item is the number of the object or event that is wrong, counted from 1; 0 means the list
	// itself, or the only object.
	Item int
	// Offset is where in the decompressed response the error was noticed, in bytes.
	Offset int64
	// Key is the key of the object, as far as it could be read, or that of the request; else the
	// zero Key.
	Key object.Key
	// Err is the reason: one of this package's, or an error of the format's decoder. It is never
	// nil.
	Err error
}

// Error returns one line: the step, the resource, the position, the reason, and what to do. Long
// texts from the server are cut.
func (e *DecodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", e.Verb, describe(e.Resource))
	if e.Item > 0 {
		what := "item"
		if e.Verb == "watch" {
			what = "event"
		}
		fmt.Fprintf(&b, "%s %d ", what, e.Item)
	}
	switch {
	case e.Key.Name != "":
		fmt.Fprintf(&b, "(%s) ", e.Key)
	case e.Key.Namespace != "":
		fmt.Fprintf(&b, "(in namespace %s) ", e.Key.Namespace)
	}
	fmt.Fprintf(&b, "at byte %d: %s", e.Offset, shorten(e.Err.Error()))
	return b.String()
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// TransformError means that an object from the server could not be transformed. A Source that
// transforms returns it from List and Watch; the reflector's Sink then keeps what it has.
type TransformError struct {
	// Key is the key of the object as the server sent it.
	Key object.Key
	// Err is the cause. It is never nil.
	Err error
}

// Error returns one line with the key and the reason.
func (e *TransformError) Error() string { return fmt.Sprintf("transform %s: %v", e.Key, e.Err) }

// Unwrap returns Err.
func (e *TransformError) Unwrap() error { return e.Err }
