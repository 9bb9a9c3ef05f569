// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func (r *run[T]) watch() {
	if r.todo.task == taskStream && r.beginReplace() != nil {
		r.in = input{}
		return
	}
	w := r.newWatch()
	defer w.close()
	err := r.config.Source.Watch(w.reading, w.opts, w.opened, w.event)
	r.in = w.ended(err)
}

// longest bounds durations before they are added up, here or by a server, to prevent overflows.
const longest time.Duration = math.MaxInt64 / 2

func (r *run[T]) newWatch() *watch[T] {
	timeout := min(r.config.WatchTimeout, longest/2)
	timeout += time.Duration(rand.Float64() * float64(timeout))
	a := &r.todo
	w := &watch[T]{run: r, opts: source.WatchOptions{
		ResourceVersion: a.version, SendInitialEvents: a.task == taskStream, Timeout: timeout, Anew: r.machine.anew,
	}}
	w.reading, w.cancel = context.WithCancelCause(r.ctx)
	if a.task == taskStream {
		limit := r.config.InitialEventsTimeout
		w.dog = newWatchdog(limit, func() { w.cancel(noticedError(reason.NoBookmark, "no initial event for %v", limit)) })
		// A server that doesn't support watch-lists may send other events for a long time, and
		// never the bookmark.
		w.total = time.AfterFunc(timeout+min(limit, longest), func() { w.cancel(&reason.Error{Reason: reason.NoBookmark}) })
	} else {
		w.watching()
	}
	if r.machine.restored {
		w.awaitAnswer()
	}
	return w
}

func (w *watch[T]) close() {
	w.dog.stop()
	if w.total != nil {
		w.total.Stop()
	}
	w.cancel(nil)
}

func (w *watch[T]) ended(err error) input {
	r := w.run
	if w.unsettled > 0 && r.sinkErr == nil {
		_, _ = w.settle() // the error is in sinkErr
	}
	if r.stopping() {
		return input{}
	}
	if context.Cause(w.reading) == errQuiet {
		return input{typ: inQuiet}
	}
	now := time.Now()
	healthy := !w.well.IsZero() && now.Sub(w.well) >= r.config.Backoff.ResetAfter
	if healthy {
		r.waits = 0
		r.r.update(func(s *Status) { s.Attempts = 0 })
	}
	if w.leaving != reason.None {
		r.failure(w.leaving, &reason.Error{Reason: w.leaving})
		return input{typ: inFailed, reason: w.leaving, healthy: healthy}
	}
	if cause := context.Cause(w.reading); cause != nil {
		err = cause // the watchdog's error, whatever the source has returned
		if w.open.IsZero() && reason.Of(err) == reason.NoBookmark {
			err = noticedError(reason.Silent, "no answer to a watch-list for %v", r.config.InitialEventsTimeout)
		}
	}
	if w.opts.SendInitialEvents && errors.Is(err, errors.ErrUnsupported) {
		return input{typ: inFailed, reason: reason.Refused, healthy: healthy} // not a failure
	}
	brief := w.open.IsZero() || now.Sub(w.open) < briefly
	if err != nil {
		if reason.Of(err) == reason.Forbidden {
			err = &reason.Error{Reason: reason.WatchForbidden, Err: err}
		}
		in := r.failed(err, healthy)
		in.brief = brief
		return in
	}
	return input{typ: inEnded, brief: brief, events: w.events, healthy: healthy}
}

type watch[T object.Object] struct {
	*run[T]
	opts    source.WatchOptions
	reading context.Context // the stream's context
	cancel  context.CancelCauseFunc
	dog     *watchdog
	total   *time.Timer // bounds the initial events, or the wait for a confirmation; else nil

	open    time.Time // when the server accepted it
	well    time.Time // since when it has been open and past its initial events
	events  bool
	leaving reason.Reason // why step left the stream

	// The current series of events:
	unsettled        int
	object, bookmark bool // whether it has an event of an object, and a bookmark
}

// watching arms the watchdog for the time after the initial events, when bookmarks are expected.
func (w *watch[T]) watching() {
	limit := w.config.SilenceTimeout
	w.dog = newWatchdog(limit, func() { w.cancel(noticedError(reason.Silent, "no event and no bookmark for %v", limit)) })
}

func (w *watch[T]) opened() {
	if !w.open.IsZero() {
		return
	}
	w.open = time.Now()
	w.dog.back(w.open)
	if w.machine.restored {
		w.awaitConfirmation()
	}
	var a action
	w.step(&input{typ: inOpened}, &a)
	w.publish(&a)
	if w.machine.state == StateWatching {
		w.well = w.open
	}
}

func (w *watch[T]) event(e source.Event[T]) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.opened()
	// step would take it for a bookmark
	if e.Type < source.Added || e.Type > source.Bookmark {
		return &source.DecodeError{Verb: "watch", Err: fmt.Errorf("%w: the source's number %d", source.ErrMalformed, e.Type)}
	}
	w.dog.away()
	w.unsettled++
	w.events = true
	if w.machine.restored {
		if err := w.confirm(e.ResourceVersion); err != nil {
			return err
		}
	}
	if w.machine.state == StateWatching {
		// like step, without the copies
		if c, ok := w.machine.next(e.Type, e.ResourceVersion); ok {
			if err := w.pass(c, e); err != nil {
				return err
			}
			return w.goOn(e.More)
		}
	}
	streaming := w.machine.state == StateStreaming
	// Before the bookmark, only initial events show progress.
	noise := streaming && e.Type != source.Added
	var start time.Time
	if noise {
		start = time.Now()
	}
	var a action
	w.step(&input{typ: inEvent, event: e.Type, version: e.ResourceVersion, initialEnd: e.InitialEventsEnd}, &a)
	if a.task == taskLeave {
		w.leaving = a.noticed
		return errLeave
	}
	if err := w.carryOut(&a, e); err != nil {
		return err
	}
	w.publish(&a)
	switch {
	case streaming && w.machine.state == StateWatching:
		now, err := w.settle()
		w.dog.stop()
		w.total.Stop()
		w.watching()
		w.well = now
		return err
	case noise:
		now, err := w.settle()
		w.dog.backFromNoise(now.Sub(start))
		return err
	}
	return w.goOn(e.More)
}

// goOn settles the series, unless more events are at hand, and resumes the watchdog.
func (w *watch[T]) goOn(more bool) error {
	if more && w.unsettled < eventsAtOnce {
		w.dog.back(time.Now())
		return nil
	}
	now, err := w.settle()
	w.dog.back(now)
	return err
}

// eventsAtOnce is the maximum number of events between two flushes of the sink and updates of
// Status, if the source has more of them at hand.
const eventsAtOnce = 128

func (w *watch[T]) settle() (time.Time, error) {
	err := w.flush()
	now := time.Now()
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	s := &w.r.status
	if w.bookmark {
		s.LastBookmark = now
	}
	if w.object {
		s.LastEvent = now
	}
	if w.machine.synced { // else the Sink has no state at that version
		s.ResourceVersion = w.machine.version
	}
	w.unsettled, w.object, w.bookmark = 0, false, false
	return now, err
}

func (w *watch[T]) carryOut(a *action, e source.Event[T]) error {
	if a.call == callEnd {
		w.bookmark = true
		return w.tell(a)
	}
	return w.pass(a.call, e)
}

func (w *watch[T]) pass(c call, e source.Event[T]) (err error) {
	if e.Type == source.Bookmark {
		w.bookmark = true
	} else {
		w.object = true
	}
	sink := w.config.Sink
	switch c {
	case callReplaced:
		err = sink.Replace(e.Object)
	case callAdded:
		err = sink.Add(e.Object)
	case callModified:
		err = sink.Update(e.Object)
	case callDeleted:
		err = sink.Delete(e.Object)
	case callBookmark:
		err = sink.Bookmark(e.ResourceVersion)
	}
	if err != nil {
		w.sinkErr = err
	}
	return err
}

// errLeave makes a source end a stream; watch.leaving has the reason.
var errLeave = errors.New("the reflector leaves the stream")
