// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// watchDecoder reads a stream of {"type", "object"}, in either order.
type watchDecoder struct {
	*stream
	deliver func(Event[object.Object]) error
}

func (d *watchDecoder) decode() error {
	for {
		tok, err := d.dec.ReadToken()
		if err == io.EOF && d.body.err == nil {
			return nil
		}
		d.item++
		if err != nil {
			return d.fail(object.Key{}, err)
		}
		event, key, err := d.event(tok)
		if err != nil {
			var status *apierrors.StatusError
			if errors.As(err, &status) {
				return status
			}
			return d.fail(key, err)
		}
		if err := d.deliver(event); err != nil {
			return callbackError{err}
		}
	}
}

// event reads one event, whose first token has been read.
func (d *watchDecoder) event(first jsontext.Token) (event Event[object.Object], key object.Key, err error) {
	if first.Kind() != '{' {
		return event, key, fmt.Errorf("%w: an event is a JSON object, not a %v", ErrMalformed, first.Kind())
	}
	var typ string
	var early jsontext.Value // the object, if it stands before the type
	var done bool
	for d.dec.PeekKind() != '}' {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return event, key, err
		}
		switch name := tok.String(); name {
		case "type":
			if typ != "" {
				return event, key, fmt.Errorf("%w: the event has two types", ErrMalformed)
			}
			if typ, err = d.text("the event's type"); err == nil {
				err = checkType(typ)
			}
		case "object":
			switch {
			case done || early != nil:
				err = fmt.Errorf("%w: the event has two objects", ErrMalformed)
			case typ == "":
				early, err = d.dec.ReadValue()
				early = early.Clone() // the decoder's buffer goes on
			default:
				done = true
				event, key, err = d.content(typ, nil)
			}
		default:
			err = d.dec.SkipValue()
		}
		if err != nil {
			return event, key, err
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return event, key, err
	}
	switch {
	case done:
		return event, key, nil
	case typ == "":
		return event, key, fmt.Errorf("%w: the event has no type", ErrUnknownEvent)
	case early == nil:
		return event, key, fmt.Errorf("%w: the %s event has no object", ErrMalformed, typ)
	}
	return d.content(typ, early)
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
	if typ == errorEvent || eventType(typ) != 0 {
		return nil
	}
	return fmt.Errorf("%w: %q is none of ADDED, MODIFIED, DELETED, BOOKMARK, ERROR", ErrUnknownEvent, typ)
}

// content reads what an event of a known type is about: from the stream, or from raw if that is not nil.
func (d *watchDecoder) content(typ string, raw jsontext.Value) (Event[object.Object], object.Key, error) {
	switch typ {
	case errorEvent:
		return Event[object.Object]{}, object.Key{}, d.status(raw)
	case "BOOKMARK":
		event, err := d.bookmark(raw)
		return event, object.Key{}, err
	}
	obj, id, err := d.object(raw, "")
	if err != nil {
		return Event[object.Object]{}, id.key, err
	}
	return Event[object.Object]{Type: eventType(typ), Object: obj, ResourceVersion: id.resourceVersion}, id.key, nil
}

// bookmark reads the little that a bookmark says. It is an object of the kind, but no object.
func (d *watchDecoder) bookmark(raw jsontext.Value) (Event[object.Object], error) {
	var mark struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	event := Event[object.Object]{Type: Bookmark}
	if err := unmarshal(d.dec, raw, &mark, typedOptions); err != nil {
		return event, err
	}
	if _, err := d.checkKind(identity{apiVersion: mark.APIVersion, kind: mark.Kind}, ""); err != nil {
		return event, err
	}
	if mark.Metadata.ResourceVersion == "" {
		return event, fmt.Errorf("%w: a bookmark is nothing without it", ErrNoResourceVersion)
	}
	event.ResourceVersion = mark.Metadata.ResourceVersion
	event.InitialEventsEnd = mark.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true"
	return event, nil
}

// status reads the object of an ERROR event and returns it as an error.
func (d *watchDecoder) status(raw jsontext.Value) error {
	var status metav1.Status
	if err := unmarshal(d.dec, raw, &status, typedOptions); err != nil {
		return err
	}
	if status.Kind != "Status" {
		return fmt.Errorf("%w: an ERROR event has a %q, want a Status", ErrWrongKind, status.Kind)
	}
	return &apierrors.StatusError{ErrStatus: status}
}
