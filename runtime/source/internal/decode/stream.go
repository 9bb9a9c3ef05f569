// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Stream reads one response, as a list or as a watch. It must be closed.
type Stream struct {
	codec *Codec
	// Set once at construction.
	format   formatReader
	body     *bodyReader
	feed     *feed
	procs    int // goroutines that decode
	maxLoad  int // goroutines of the load from which on no helper is added
	readOnly bool
	known    Known // nil: nothing

	counted bool // the load counts the stream; belongs to the feed's owner

	// Used by the caller's goroutine only.
	item    int    // number of the current object or event, from 1
	learned string // the kind of the first object, if the codec has none
}

// Open begins to read a response in a format. It reads nothing yet.
//
// If a shared part was changed, some of the caller's objects differ from what the server has sent,
// and it is unknown which. So from then on Known is not called, and the caller gets newly decoded
// objects, none of which has the changed part. This is logged, once.
func (c *Codec) Open(ctx context.Context, body io.ReadCloser, f Format, promises Promises) *Stream {
	s := newStream(c, body, f)
	s.promised(ctx, promises)
	return s
}

func newStream(c *Codec, body io.ReadCloser, f Format) *Stream {
	s := &Stream{codec: c, body: &bodyReader{r: body, limit: maxItem, remaining: maxItem}}
	s.procs, s.maxLoad = c.tuning.procs, c.tuning.procs
	if s.procs == 0 {
		s.maxLoad = runtime.GOMAXPROCS(0)
		s.procs = min(s.maxLoad, maxProcs)
	}
	s.feed = &feed{body: s.body, sizes: c.tuning.sizes, table: c.pools.table()}
	s.format = formats[f].reader(s)
	return s
}

// promised stores the promises, as far as they can be relied on.
func (s *Stream) promised(ctx context.Context, promises Promises) {
	table := s.codec.pools.table()
	s.readOnly = promises.ReadOnly
	table.Round()
	if known := promises.Known; known != nil && table.Check() {
		s.known = func(key object.Key, uid types.UID, resourceVersion string) object.Object {
			if !table.Intact() {
				return nil
			}
			return known(key, uid, resourceVersion)
		}
	}
	if !table.Intact() && s.codec.warned.CompareAndSwap(false, true) {
		klog.FromContext(ctx).Error(nil, "An object that was handed over as read-only has been modified, and others have the same memory; "+
			"they are right again once the server has sent them again. The mutation detector of informers finds who does it",
			"resource", s.codec.gvr.GroupResource().String()+"/"+s.codec.gvr.Version)
	}
}

// List reads a list, and calls item with each object that is in the shard. It returns an error of
// item as a [CallbackError], and one about the response as an [*Error] or a [*BrokenError].
func (s *Stream) List(item func(object.Object) error) (List, error) {
	l := listReader{stream: s, deliver: item}
	return l.read()
}

// Watch reads events until the response ends, and calls event with each that is in the shard. The
// item is the callback's until it returns. Errors are as those of List; that of an ERROR event is
// an *apierrors.StatusError.
func (s *Stream) Watch(event func(*Item) error) error {
	w := watchReader{stream: s, deliver: event}
	return w.read()
}

// Close closes the response.
func (s *Stream) Close() { s.feed.close() }

// fail returns the error of a stream that stopped at an offset with err.
func (s *Stream) fail(key object.Key, err error, offset int64) error {
	var broken *BrokenError
	if errors.As(err, &broken) {
		return broken
	}
	if isCutOff(err) {
		err = fmt.Errorf("%w: the response is cut off: %w", ErrMalformed, io.ErrUnexpectedEOF)
	}
	if s.item <= 1 && isSyntax(err) {
		err = fmt.Errorf("%w; is this the address of a Kubernetes API?", err)
	}
	return &Error{Item: s.item, Offset: offset, Key: key, Err: err}
}

// isSyntax reports whether err is about invalid JSON, from either layer of the decoder.
func isSyntax(err error) bool {
	var v1 *jsonv1.SyntaxError
	var v2 *jsontext.SyntacticError
	return errors.As(err, &v1) || errors.As(err, &v2)
}

// isCutOff reports whether err is about a stream that ends too early. Version 1 of the JSON decoder
// has no error value for that, so its text is compared.
func isCutOff(err error) bool {
	var v1 *jsonv1.SyntaxError
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &v1) && v1.Error() == "unexpected end of JSON input"
}

// accept checks an object and sets its kind. hint is the kind of objects that carry none, "" if it
// is unknown.
func (s *Stream) accept(r *Item, hint string) error {
	kind, err := s.checkKind(r.id.apiVersion, r.id.kind, hint)
	switch {
	case err != nil:
		return err
	case r.id.key.Name == "":
		return fmt.Errorf("%w: no metadata.name, without which the object can't be kept", ErrIncomplete)
	case !isVersion(r.id.resourceVersion):
		return fmt.Errorf("%w: no metadata.resourceVersion, without which the object can't be ordered", ErrIncomplete)
	}
	s.codec.stamp(r.Object, kind)
	return nil
}

// checkKind compares the apiVersion and kind of an object with those that were asked for, and
// returns the shared string of its kind.
func (s *Stream) checkKind(apiVersion, kind, hint string) (string, error) {
	if kind == "" {
		kind = hint
	}
	if s.codec.partial {
		return s.checkMetadata(apiVersion, kind)
	}
	want := s.codec.kind
	if want == "" {
		want = s.learned
	}
	if kind == "" {
		kind = want
	}
	switch {
	case apiVersion != "" && apiVersion != s.codec.apiVersion, want != "" && kind != want:
		return "", s.codec.wrongKind(apiVersion, kind)
	case kind == "":
		return "", fmt.Errorf("%w: nothing says what kind of object this is", ErrWrongKind)
	case want == "":
		s.learned = kind
		return kind, nil
	}
	return want, nil
}

// checkMetadata is checkKind for a source of metadata. The server sends the metadata of an object,
// as asked for, or a whole object if it can't send less. Both look the same afterwards.
func (s *Stream) checkMetadata(apiVersion, kind string) (string, error) {
	metadata := kind == metadataKind && (apiVersion == "" || apiVersion == metadataAPIVersion)
	whole := kind != metadataKind && (apiVersion == "" || apiVersion == s.codec.apiVersion) && (s.codec.kind == "" || kind == "" || kind == s.codec.kind)
	switch {
	case !metadata && !whole, kind == "Status", kind == "Table":
		return "", s.codec.wrongKind(apiVersion, kind)
	case s.codec.kind != "":
		return s.codec.kind, nil
	}
	return metadataKind, nil
}
