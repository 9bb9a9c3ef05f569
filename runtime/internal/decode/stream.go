// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Stream reads one response, as a list or as a watch. It must be closed. One goroutine uses it.
type Stream struct {
	codec *Codec
	// Set once at construction.
	format    formatReader
	body      *bodyReader
	feed      *feed
	readOnly  bool
	known     Known      // nil: nothing
	selection *selection // nil: all
	skipped   func()     // nil: nobody wants to know
	initial   bool       // the next event is an initial event, or the bookmark after them
	unordered bool       // versions are in no order until the first bookmark

	itemNumber int    // of the current object or event, from 1
	firstKind  string // the kind of the first object, if the codec has none
}

// List reads a list, and calls item with each object that is kept. It returns an error of item as a
// [CallbackError], and one about the response as an [*Error] or a [*BrokenError].
func (s *Stream) List(item func(object.Object) error) (List, error) {
	l := listReader{stream: s, deliver: item}
	return l.read()
}

// Watch reads events until the response ends, and calls event with each bookmark, and with each
// event of an object that is kept. The last of several other events becomes a bookmark. The
// callback owns the item until it returns. Errors are as those of List; that of an ERROR event is
// an *apierrors.StatusError.
func (s *Stream) Watch(event func(*Item) error) error {
	w := watchReader{stream: s, deliver: event}
	return w.read()
}

// Close closes the response.
func (s *Stream) Close() { s.feed.close() }

// List is the metadata of a list.
type List struct {
	ResourceVersion string
	Continue        string
	Skipped         int  // items outside the shard, or not kept
	Sharded         bool // the server has applied a shard selector
}

// Item is a decoded object of a list, or an event of a watch.
type Item struct {
	Type             deltafifo.Type // of an event; 0 for ERROR
	InitialEventsEnd bool           // of a bookmark
	More             bool           // the next item has arrived, and will be handed over
	known            bool           // Object was returned by Known
	dropped          bool           // the object is not kept
	Object           object.Object  // nil for a bookmark; with an error it may be incomplete

	id     identity // with an error it may be incomplete; of a dropped object it is not to be kept
	err    error
	offset int64 // end of decoding in the response
}

// ResourceVersion returns the version of the object or of the bookmark.
func (r *Item) ResourceVersion() string { return r.id.resourceVersion }

// The reasons of an Error other than errors of the formats' decoders.
var (
	ErrWrongKind = errors.New("wrong kind")
	ErrMalformed = errors.New("malformed")
)

// Error means that a response can't be used.
type Error struct {
	Item   int        // number of the wrong item, from 1; 0 is the list itself
	Offset int64      // position in the response where the error was noticed
	Key    object.Key // of the object, as far as it could be read
	Err    error      // the reason
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// BrokenError is an error of the connection.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }
func (e *BrokenError) Unwrap() error { return e.Err }

// CallbackError carries a callback's error out of a stream untouched.
type CallbackError struct{ Err error }

func (e CallbackError) Error() string { return e.Err.Error() }

func newStream(ctx context.Context, c *Codec, body io.ReadCloser, f Format) *Stream {
	s := &Stream{codec: c, body: &bodyReader{ctx: ctx, r: body, limit: maxItem, remaining: maxItem}}
	s.feed = &feed{body: s.body, sizes: c.sizes, table: c.pools.table()}
	s.format = formats[f].reader(s)
	return s
}

// setPromises stores the promises, as far as they can be relied on.
func (s *Stream) setPromises(ctx context.Context, promises Promises) {
	table := s.codec.pools.table()
	s.readOnly = promises.ReadOnly
	s.selection, s.skipped = newSelection(&promises, s.codec.shard, promises.Shard), promises.Skipped
	s.initial, s.unordered = promises.Initial, promises.Initial || promises.Unordered
	table.StartRound()
	if known := promises.Known; known != nil && table.Check() {
		s.known = func(key object.Key, uid types.UID, resourceVersion string) object.Object {
			if !table.Intact() {
				return nil
			}
			return known(key, uid, resourceVersion)
		}
	}
	if !table.Intact() && s.codec.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "A read-only object has been modified, and other objects share the changed memory. "+
			"They are correct again once the server sends them again. The mutation detector of informers finds the code that does it",
			"resource", s.codec.gvr.GroupResource().String()+"/"+s.codec.gvr.Version)
	}
}
