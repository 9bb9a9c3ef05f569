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

// Source lists and watches one collection: a resource, in one namespace or all, optionally
// restricted by selectors. The collection is fixed when a Source is made.
//
// Both methods block and call back on the caller's goroutine, one call at a time, in the stream's
// order. Both return the callback's first error at once and unchanged, and context.Cause(ctx) once
// ctx is done. A Source may be used by several goroutines at once.
type Source[T object.Object] interface {
	// List reads one page and calls item for each object as it is decoded.
	List(ctx context.Context, opts ListOptions, item func(T) error) (ListResult, error)

	// Watch opens a stream of events and reads it until it ends. opened, if not nil, is called
	// once, when the server has accepted the watch and before any event; the first event may take
	// long to come. Watch returns nil if the server ends the stream normally.
	Watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[T]) error) error
}

// ListOptions choose the page to read and how fresh it must be. The zero value asks for the whole
// most recent state.
type ListOptions struct {
	// ResourceVersion is "" for the most recent state and "0" for any state the server has cached.
	// Any other value is the oldest acceptable version (or the exact one, with ResourceVersionMatch
	// "Exact").
	ResourceVersion string
	// ResourceVersionMatch is "", "NotOlderThan" or "Exact".
	ResourceVersionMatch string
	// Limit is the maximum number of objects of a page; 0 leaves it to the server.
	Limit int64
	// Continue is the token from the previous page's result; "" for the first page.
	Continue string
	// VersionOnly means the caller uses only the ListResult. A Source may hand over no objects, and
	// a Source that wraps another may ignore them.
	VersionOnly bool
	// NoReuse is set when the server's versions went back, as after a restored backup. An object
	// handed over before may then differ from the server's object of the same version, so a Source
	// that wraps another must not reuse anything it has kept; Known is nil.
	NoReuse bool

	// ReadOnly promises that the caller never changes the objects, nor anything they refer to. The
	// Source may then share equal parts (maps, slices, pointers) between all objects handed over to
	// such callers. Without it, every object owns its parts, except for strings, which are
	// immutable. A Source may ignore the promise.
	ReadOnly bool
	// Known, if not nil, returns the caller's object with exactly this key, uid and
	// resourceVersion, of the Source's type, or nil. The Source hands over that object as it is;
	// the server's is checked but not decoded. Known is called for each object of the list, on the
	// goroutine of List, one call at a time, ahead of the callback, and maybe more than once for an
	// object. A Source need not call it at all.
	Known func(key object.Key, uid types.UID, resourceVersion string) object.Object

	// Keep, if not nil, selects objects by their metadata. The others are checked, but neither
	// decoded nor handed over. Keep is called for each object of the list, on the goroutine of
	// List, one call at a time, and maybe more than once for an object. The Meta, with its strings
	// and its Controller, is valid until Keep returns. A Source may ignore Keep, so the caller
	// looks at the objects, too.
	Keep func(object.Meta) bool
	// KeepByController means that Keep looks at Meta.Controller, which may be nil otherwise.
	KeepByController bool
	// Skipped, if not nil, is called for each object left out because of Keep or a shard selector,
	// on the goroutine of List: the list isn't silent. A Source may ignore it.
	Skipped func()
	// ShardSelector restricts the objects as in [Options], whose ShardSelector must be "" then. A
	// Source may ignore it, so the caller looks at the objects, too.
	ShardSelector string
}

// ListResult is the metadata of a page.
type ListResult struct {
	// ResourceVersion is the version of the list. It is never "" or "0".
	ResourceVersion string
	// Continue is the token for the next page; "" after the last one.
	Continue string
	// Skipped is the number of objects on the page that were not handed over because they are not
	// of the collection, or not kept.
	Skipped int
	// Sharded means that the server has echoed the shard selector, of the Source or of the request,
	// in metadata.shardInfo (KEP-5866): it has applied it. API servers don't echo it in lists of
	// custom resources and of metadata, although they apply it; [HonorsShards] finds out.
	Sharded bool
}

// WatchOptions choose where a watch starts. A Source always asks for bookmarks.
type WatchOptions struct {
	// ResourceVersion is the version after which events start.
	ResourceVersion string
	// SendInitialEvents asks for a watch-list (KEP-3157): the existing objects as Added events,
	// then a Bookmark with InitialEventsEnd, then the changes. A Source that has none, whatever its
	// server, returns an error that wraps errors.ErrUnsupported.
	SendInitialEvents bool
	// Timeout is the duration after which the server should end the stream, in whole seconds; 0
	// leaves it to the server.
	Timeout time.Duration
	// NoReuse is as in [ListOptions].
	NoReuse bool

	// ReadOnly is the same promise as in [ListOptions].
	ReadOnly bool
	// Known is as in [ListOptions], but called for each Added event, on the goroutine of Watch.
	Known func(key object.Key, uid types.UID, resourceVersion string) object.Object

	// Keep and KeepByController are as in [ListOptions], for each event of an object. An object
	// that leaves the selection, with a new controller, is not reported as Deleted. So Keep should
	// return true for the objects the caller has.
	//
	// The event of an object that is not kept moves the stream on, too: a Bookmark with its version
	// is handed over, unless the next event has already arrived. Initial events come in no order of
	// versions, so there is no such Bookmark before the server's first one.
	Keep             func(object.Meta) bool
	KeepByController bool
	// Skipped is as in [ListOptions], for each initial event that is left out.
	Skipped func()
	// ShardSelector is as in [ListOptions].
	ShardSelector string
}

// EventType is the type of a watch event. ERROR events have none: a Source returns them as errors.
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
	// More means that the next event has already arrived: unless the watch ends with an error
	// first, it is handed over without waiting for the server. A caller may put off work on this
	// event until then. A Source that can't tell leaves it false, and so does a wrapper that may
	// leave out the next event. Among initial events, the next one may be left out because of Keep
	// or a shard selector, and More announces a later event.
	More bool
}

// Reasons of a DecodeError, found by errors.Is.
var (
	// ErrWrongFormat means an answer in a format that was not asked for, such as a page of HTML.
	ErrWrongFormat = errors.New("wrong format")
	// ErrWrongKind means an answer or an object of an apiVersion or kind that was not asked for.
	ErrWrongKind = decode.ErrWrongKind
	// ErrMalformed means a response that is not a list or a sequence of events, although it may be
	// well-formed JSON. It also means an event of a type other than ADDED, MODIFIED, DELETED,
	// BOOKMARK and ERROR, a response that ends too early, and an object without metadata.name; or a
	// list, an object or a bookmark without metadata.resourceVersion, or with "0".
	ErrMalformed = decode.ErrMalformed
)

// DecodeError reports an unusable response, and the position in the stream. The items before that
// position were handed over; the item there and later ones were not.
type DecodeError struct {
	// Verb is "list" or "watch"; for a request about one object "get", "create", "update", "patch"
	// or "delete".
	Verb string
	// Resource is the requested resource.
	Resource schema.GroupVersionResource
	// Item is the number of the wrong object or event, counted from 1; 0 means the list itself, or
	// the only object.
	Item int
	// Offset is the position of the error in the decompressed response, in bytes.
	Offset int64
	// Key is the key of the object, as far as it could be read, or of the request; else the zero
	// Key.
	Key object.Key
	// Err is the reason: one of this package's errors, or an error of the format's decoder. It is
	// never nil.
	Err error
}

// Error returns one line: the step, the resource, the position, the reason, and advice. Long texts
// from the server are cut.
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

// TransformError means that transforming an object from the server failed. A Source that transforms
// returns it from List and Watch.
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
