// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
)

type watchReader struct {
	stream  *Stream
	deliver func(*Item) error
}

func (w *watchReader) read() error {
	err := w.stream.run(w.stream.format.events(), decoder.event, w.take)
	if failed, ok := err.(*scanError); ok {
		w.stream.itemNumber++
		return w.stream.fail(failed.key, failed.err, failed.offset)
	}
	return err
}

func (w *watchReader) take(r *Item) error {
	w.stream.itemNumber++
	switch {
	case r.err != nil:
	case r.Type == deltafifo.Bookmark:
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
	s := w.stream
	switch {
	case r.Type == deltafifo.Bookmark:
		s.initial, s.unordered = false, false
	case r.dropped && (r.More || s.unordered):
		if s.initial && r.Type == deltafifo.Added && s.skipped != nil {
			s.skipped()
		}
		return nil
	case r.dropped:
		r = r.progress()
	case s.unordered && !s.initial && s.selection != nil:
		r.More = false // the next event may not be handed over
	}
	if err := w.deliver(r); err != nil {
		return CallbackError{err}
	}
	return nil
}

func (w *watchReader) checkBookmark(r *Item) error {
	if _, err := w.stream.checkKind(r.id.apiVersion, r.id.kind, ""); err != nil {
		return err
	}
	if !isVersion(r.id.resourceVersion) {
		return fmt.Errorf("%w: the bookmark has no metadata.resourceVersion", ErrMalformed)
	}
	return nil
}

const errorEvent = "ERROR"

func eventType(name string) deltafifo.Type {
	for t := deltafifo.Added; t <= deltafifo.Bookmark; t++ {
		if name == t.String() {
			return t
		}
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
		return fmt.Errorf("%w: the event has no type", ErrMalformed)
	case typ == errorEvent || eventType(typ) != 0:
		return nil
	}
	return fmt.Errorf("%w: unknown event type %q, want ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", ErrMalformed, typ)
}

func statusError(status metav1.Status) error {
	if status.Kind != "Status" {
		return fmt.Errorf("%w: the object of an ERROR event is a %q, want a Status", ErrWrongKind, status.Kind)
	}
	return &apierrors.StatusError{ErrStatus: status}
}

func errNoObject(typ string) error {
	return fmt.Errorf("%w: the %s event has no object", ErrMalformed, typ)
}

var (
	errTwoTypes   = fmt.Errorf("%w: the event has two types", ErrMalformed)
	errTwoObjects = fmt.Errorf("%w: the event has two objects", ErrMalformed)
)
