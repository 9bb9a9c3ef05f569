// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// watchReader reads a stream of events.
type watchReader struct {
	*stream
	deliver func(Event[object.Object]) error
}

func (w *watchReader) read() error {
	for {
		event, key, err := w.wire.event(w)
		if err == io.EOF && w.body.err == nil {
			return nil
		}
		w.count()
		if err != nil {
			var status *apierrors.StatusError
			if errors.As(err, &status) {
				return status
			}
			return w.fail(key, err)
		}
		if event.Object != nil && !w.shard.has(event.Object) {
			continue
		}
		if err := w.deliver(event); err != nil {
			return callbackError{err}
		}
	}
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

func checkType(typ string) error {
	switch {
	case typ == "":
		return fmt.Errorf("%w: the event has no type", ErrUnknownEvent)
	case typ == errorEvent || eventType(typ) != 0:
		return nil
	}
	return fmt.Errorf("%w: %q is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR", ErrUnknownEvent, typ)
}

// content reads what an event of a known type is about.
func (w *watchReader) content(typ string, v value) (Event[object.Object], object.Key, error) {
	switch typ {
	case errorEvent:
		return Event[object.Object]{}, object.Key{}, w.status(v)
	case "BOOKMARK":
		event, err := w.bookmark(v)
		return event, object.Key{}, err
	}
	obj, id, err := w.object(v, "")
	if err != nil {
		return Event[object.Object]{}, id.key, err
	}
	return Event[object.Object]{Type: eventType(typ), Object: obj, ResourceVersion: id.resourceVersion}, id.key, nil
}

func (w *watchReader) bookmark(v value) (Event[object.Object], error) {
	m, err := v.mark()
	if err != nil {
		return Event[object.Object]{}, err
	}
	if _, err := w.checkKind(m.apiVersion, m.kind, ""); err != nil {
		return Event[object.Object]{}, err
	}
	if m.resourceVersion == "" {
		return Event[object.Object]{}, fmt.Errorf("%w: a bookmark is nothing without it", ErrNoResourceVersion)
	}
	return Event[object.Object]{Type: Bookmark, ResourceVersion: m.resourceVersion, InitialEventsEnd: m.initialEventsEnd}, nil
}

// status reads the object of an ERROR event and returns it as an error.
func (w *watchReader) status(v value) error {
	status, err := v.status()
	if err != nil {
		return err
	}
	if status.Kind != "Status" {
		return fmt.Errorf("%w: an ERROR event has a %q, want a Status", ErrWrongKind, status.Kind)
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// errNoObject is an event without an object.
func errNoObject(typ string) error {
	return fmt.Errorf("%w: the %s event has no object", ErrMalformed, typ)
}

var (
	errTwoTypes   = fmt.Errorf("%w: the event has two types", ErrMalformed)
	errTwoObjects = fmt.Errorf("%w: the event has two objects", ErrMalformed)
)
