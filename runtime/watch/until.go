// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var errDone = errors.New("all conditions are true")

// Until watches src after resourceVersion, like [Retry], until all conditions have been true, one
// after the other. A condition reports whether it is true after an event; its error ends the wait.
// Each condition is called first with the event that made the previous one true, and then with
// later ones. Until returns the last event passed to a condition, also with an error; the zero
// Event if there was none. Without conditions it returns at once.
//
// Its errors are those of [Retry], with a condition's error, unchanged, instead of event's.
//
// No event shows a condition already true at resourceVersion: check it first, with the object or
// list of that version.
func Until[T object.Object](ctx context.Context, src source.Source[T], resourceVersion string, opts Options, conditions ...func(source.Event[T]) (bool, error)) (source.Event[T], error) {
	var last source.Event[T]
	for i, condition := range conditions {
		if condition == nil {
			return last, fmt.Errorf("watch.Until: condition %d is nil", i+1)
		}
	}
	event := func(e source.Event[T]) error {
		last = e
		for len(conditions) > 0 {
			if done, err := conditions[0](e); err != nil || !done {
				return err
			}
			conditions = conditions[1:]
		}
		return errDone
	}
	if err := check(ctx, src, resourceVersion, opts, event); err != nil {
		return last, fmt.Errorf("watch.Until: %w", err)
	}
	if len(conditions) == 0 {
		return last, nil
	}
	r := retry[T]{src: src, opts: opts.withDefaults(), event: event, version: resourceVersion}
	if err := r.run(ctx); err != errDone {
		return last, err
	}
	return last, nil
}
