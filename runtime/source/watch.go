// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// watchReader reads a stream of events.
type watchReader struct {
	stream  *stream
	deliver func(Event[object.Object]) error
}

func (w *watchReader) read() error {
	err := w.stream.run(w.stream.format.events(), decoder.event, w.take)
	if failed, ok := err.(*scanError); ok {
		w.stream.item++
		return w.stream.fail(failed.key, failed.err, failed.offset)
	}
	return err
}

// take checks a decoded event and hands it over.
func (w *watchReader) take(r *reading) error {
	w.stream.item++
	switch {
	case r.err != nil:
	case r.typ == Bookmark:
		r.err = w.checkBookmark(r)
	case !r.known:
		r.err = w.stream.accept(r, "")
	}
	if r.err != nil {
		if status, ok := r.err.(*apierrors.StatusError); ok {
			return status
		}
		return w.stream.fail(r.id.key, r.err, r.offset)
	}
	event := Event[object.Object]{Type: r.typ, Object: r.obj, ResourceVersion: r.id.resourceVersion, InitialEventsEnd: r.initialEventsEnd}
	if w.stream.codec.shard == nil {
		event.More = r.more // else the next one may not be handed over
	} else if r.obj != nil && !w.stream.codec.shard.has(r.obj) {
		return nil
	}
	if err := w.deliver(event); err != nil {
		return callbackError{err}
	}
	return nil
}

func (w *watchReader) checkBookmark(r *reading) error {
	if _, err := w.stream.checkKind(r.id.apiVersion, r.id.kind, ""); err != nil {
		return err
	}
	if !isVersion(r.id.resourceVersion) {
		return fmt.Errorf("%w: a bookmark is nothing without it", ErrNoResourceVersion)
	}
	return nil
}

const errorEvent = "ERROR"

func eventType(typ string) EventType {
	switch typ {
	case "ADDED":
		return Added
	case "MODIFIED":
		return Modified
	case "DELETED":
		return Deleted
	case "BOOKMARK":
		return Bookmark
	}
	return 0
}

// typeName returns the type as a string. The usual types share constant strings.
func typeName(raw []byte) string {
	if t := eventType(string(raw)); t != 0 {
		return t.String()
	}
	return string(raw)
}

func checkType(typ string) error {
	switch {
	case typ == "":
		return fmt.Errorf("%w: the event has no type", ErrUnknownEvent)
	case typ == errorEvent || eventType(typ) != 0:
		return nil
	}
	return fmt.Errorf("%w: %q is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR", ErrUnknownEvent, typ)
}

// statusError returns the error for the Status in an ERROR event.
func statusError(status metav1.Status) error {
	if status.Kind != "Status" {
		return fmt.Errorf("%w: an ERROR event has a %q, want a Status", ErrWrongKind, status.Kind)
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// errNoObject returns the error for an event without an object.
func errNoObject(typ string) error {
	return fmt.Errorf("%w: the %s event has no object", ErrMalformed, typ)
}

var (
	errTwoTypes   = fmt.Errorf("%w: the event has two types", ErrMalformed)
	errTwoObjects = fmt.Errorf("%w: the event has two objects", ErrMalformed)
)
