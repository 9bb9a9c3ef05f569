// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/resourceversion"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// shortWatchLimit is the age below which an ended watch counts as short.
const shortWatchLimit = time.Second

// Options has the timeouts and waits of a watch. The zero value of a field means its default.
type Options struct {
	// WatchTimeout is the shortest duration requested for a connection; each asks for a random one
	// between WatchTimeout and twice that. 0 means 5 minutes.
	WatchTimeout time.Duration
	// SilenceTimeout is the longest time without an event or bookmark before Retry connects again.
	// 0 means 3 minutes.
	SilenceTimeout time.Duration
	// Backoff sets the waits before retries.
	Backoff reflector.Backoff
	// OnError, if not nil, is called with each failure from which Retry recovers, on the caller's
	// goroutine, before the wait that follows. It must not block. [reason.Of] returns the kind of
	// failure.
	OnError func(error)
}

func (o Options) withDefaults() Options {
	if o.WatchTimeout == 0 {
		o.WatchTimeout = 5 * time.Minute
	}
	if o.SilenceTimeout == 0 {
		o.SilenceTimeout = 3 * time.Minute
	}
	if o.Backoff.ResetAfter == 0 {
		o.Backoff.ResetAfter = 2 * time.Minute
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}

// Retry calls event with each change of src after resourceVersion, in order. Whenever a watch ends,
// it connects again at the last version seen. It never lists, and it returns only with an error:
//
//   - event's error, unchanged, as soon as it returns one
//   - context.Cause(ctx), wrapped, when ctx is done, and also the last failure, if no watch
//     was open at that time
//   - the failure, wrapped, after which it can't go on without losing changes; [reason.Of]
//     returns its reason, most often [reason.Expired] (410). To go on, a program has to list, and
//     to start after the version of the list.
//   - one about the arguments: resourceVersion must come from an object or a list, not "" or "0",
//     and no argument may be nil
//
// A change for which event has returned nil is not repeated.
func Retry[T object.Object](ctx context.Context, src source.Source[T], resourceVersion string, opts Options, event func(source.Event[T]) error) error {
	if err := check(ctx, src, resourceVersion, opts, event); err != nil {
		return fmt.Errorf("watch.Retry: %w", err)
	}
	r := retry[T]{src: src, opts: opts.withDefaults(), event: event, version: resourceVersion}
	return r.run(ctx)
}

func check[T object.Object](ctx context.Context, src source.Source[T], resourceVersion string, opts Options, event func(source.Event[T]) error) error {
	switch {
	case ctx == nil:
		return errors.New("the context is nil")
	case src == nil:
		return errors.New("the source is nil")
	case event == nil:
		return errors.New("the function for the events is nil")
	case resourceVersion == "" || resourceVersion == "0":
		return fmt.Errorf("%q is not a version to start after; use that of an object or a list", resourceVersion)
	}
	return reflector.Tuning{WatchTimeout: opts.WatchTimeout, SilenceTimeout: opts.SilenceTimeout, Backoff: opts.Backoff}.Validate()
}

type retry[T object.Object] struct {
	// Set once at construction.
	src   source.Source[T]
	opts  Options
	event func(source.Event[T]) error

	version       string          // the last one seen
	lastEvent     source.Event[T] // passed on
	waits         int             // in a row
	retriedAtOnce bool            // no watch was healthy since a retry without a wait
	badVersion    string          // the version before bad data
	lastErr       error           // nil while a watch is open
}

func (r *retry[T]) run(ctx context.Context) error {
	for ctx.Err() == nil {
		end := r.watch(ctx)
		switch {
		case end.callbackErr != nil:
			return end.callbackErr
		case ctx.Err() != nil:
			return r.interrupted(ctx)
		case end.duration >= r.opts.Backoff.ResetAfter:
			r.waits, r.retriedAtOnce = 0, false
		}
		wait, err := r.next(end)
		if err != nil {
			return fmt.Errorf("%s: the watch can't go on after version %s: %w", r.name(), r.version, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return r.interrupted(ctx)
}

func (r *retry[T]) interrupted(ctx context.Context) error {
	if r.lastErr != nil {
		return fmt.Errorf("%s: watching after version %s: %w; the last failure was: %w", r.name(), r.version, context.Cause(ctx), r.lastErr)
	}
	return fmt.Errorf("%s: watching after version %s: %w", r.name(), r.version, context.Cause(ctx))
}

func (r *retry[T]) name() string {
	if s, ok := r.src.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", r.src)
}

// ending is the end of one watch.
type ending struct {
	callbackErr error         // event's error
	err         error         // nil if the server has ended it normally
	opened      bool          // the server had accepted it
	duration    time.Duration // since then
	hasEvents   bool
}

func (r *retry[T]) watch(ctx context.Context) (end ending) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := r.opts.SilenceTimeout
	silence := time.AfterFunc(limit, func() {
		cancel(&reason.Error{Reason: reason.Silent, Err: fmt.Errorf("no event and no bookmark for %v", limit)})
	})
	defer silence.Stop()

	var open time.Time
	opened := func() {
		if !end.opened {
			end.opened, open, r.lastErr = true, time.Now(), nil
			silence.Reset(limit)
		}
	}
	timeout := r.opts.WatchTimeout + time.Duration(rand.Float64()*float64(r.opts.WatchTimeout))
	err := r.src.Watch(ctx, source.WatchOptions{ResourceVersion: r.version, Timeout: timeout}, opened, func(e source.Event[T]) error {
		opened()
		silence.Stop() // the time of the callback does not count
		defer silence.Reset(limit)
		end.hasEvents = true
		if older(e.ResourceVersion, r.version) {
			end.err = &reason.Error{Reason: reason.WentBack}
			return end.err
		}
		if e.Type != source.Bookmark && !r.repeats(e) {
			if end.callbackErr = r.event(e); end.callbackErr != nil {
				return end.callbackErr
			}
			r.lastEvent = e
		}
		r.version = e.ResourceVersion
		return nil
	})
	if end.opened {
		end.duration = time.Since(open)
	}
	switch {
	case end.err != nil: // an error found above
	case context.Cause(ctx) != nil:
		// the cause set by the silence timer, whatever error the source has returned
		end.err = context.Cause(ctx)
	default:
		end.err = err
	}
	return end
}

func (r *retry[T]) repeats(e source.Event[T]) bool {
	return e.ResourceVersion == r.lastEvent.ResourceVersion && e.Type == r.lastEvent.Type && object.KeyOf(e.Object) == object.KeyOf(r.lastEvent.Object)
}

// next returns the wait before the next watch, or an error if there can't be one.
func (r *retry[T]) next(end ending) (time.Duration, error) {
	err := end.err
	if err == nil {
		switch {
		case end.duration >= shortWatchLimit:
			return 0, nil
		case end.hasEvents && !r.retriedAtOnce:
			r.retriedAtOnce = true
			return 0, nil
		}
		err = &reason.Error{Reason: reason.ShortWatch}
	}
	why := reason.Of(err)
	switch why {
	case reason.Expired, reason.TooNew, reason.WentBack, reason.Unreadable,
		reason.Unauthorized, reason.Forbidden, reason.Refused:
		return 0, err
	case reason.BadData, reason.Transform:
		if r.badVersion == r.version {
			return 0, err
		}
		r.badVersion = r.version
	}
	r.lastErr = err
	r.opts.OnError(err)
	if why == reason.Silent && end.opened && !r.retriedAtOnce {
		// Most likely nothing has changed. The next watch shows whether the server still answers.
		r.retriedAtOnce = true
		return 0, nil
	}
	if after := reason.RetryAfter(err); after > 0 {
		return after, nil
	}
	r.waits++
	return r.opts.Backoff.Wait(r.waits), nil
}

// older reports whether version a is older than b. It returns false for incomparable versions.
func older(a, b string) bool {
	c, err := resourceversion.Compare(a, b)
	return err == nil && c < 0
}
