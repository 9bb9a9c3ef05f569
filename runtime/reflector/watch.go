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
	if r.todo.task == taskWatchList && r.beginReplace() != nil {
		r.in = input{}
		return
	}
	w := r.newWatch()
	defer w.close()
	err := r.config.Source.Watch(w.streamCtx, w.opts, w.opened, w.event)
	r.in = w.ended(err)
}

// maxDuration bounds durations before they are added up, here or by a server, to prevent overflows.
const maxDuration time.Duration = math.MaxInt64 / 2

func (r *run[T]) newWatch() *watch[T] {
	timeout := min(r.config.WatchTimeout, maxDuration/2)
	timeout += time.Duration(rand.Float64() * float64(timeout))
	a := &r.todo
	w := &watch[T]{run: r, opts: source.WatchOptions{
		ResourceVersion: a.version, SendInitialEvents: a.task == taskWatchList, Timeout: timeout, NoReuse: r.machine.noReuse,
	}}
	w.opts.Skipped = func() { w.watchdog.restart(time.Now()) }
	w.streamCtx, w.cancel = context.WithCancelCause(r.ctx)
	if a.task == taskWatchList {
		limit := r.config.InitialEventsTimeout
		w.watchdog = newWatchdog(limit, func() { w.cancel(reasonError(reason.NoBookmark, "no initial event for %v", limit)) })
		// A server that doesn't support watch-lists may send other events for a long time, and
		// never the bookmark.
		w.startTimer = time.AfterFunc(timeout+min(limit, maxDuration), func() { w.cancel(&reason.Error{Reason: reason.NoBookmark}) })
	} else {
		w.startWatchdog()
	}
	if r.machine.restored {
		w.awaitAnswer()
	} else if a.task == taskWatch {
		r.reflector.relist.watching(w.cancel)
	}
	return w
}

func (w *watch[T]) close() {
	w.reflector.relist.watchEnded()
	w.watchdog.stop()
	if w.startTimer != nil {
		w.startTimer.Stop()
	}
	w.cancel(nil)
}

func (w *watch[T]) ended(err error) input {
	r := w.run
	if w.unflushed > 0 && r.sinkErr == nil {
		_, _ = w.flushSeries() // the error is in sinkErr
	}
	if r.stopping() {
		return input{}
	}
	if context.Cause(w.streamCtx) == errUnconfirmed {
		return input{typ: inUnconfirmed}
	}
	now := time.Now()
	healthy := !w.watchingSince.IsZero() && now.Sub(w.watchingSince) >= r.config.Backoff.ResetAfter
	if healthy {
		r.waits = 0
		r.reflector.update(func(s *Status) { s.Attempts = 0 })
	}
	if w.stopReason == reason.None && context.Cause(w.streamCtx) == errRelist {
		return input{typ: inRelist, healthy: healthy}
	}
	if w.stopReason != reason.None {
		r.failure(w.stopReason, &reason.Error{Reason: w.stopReason})
		return input{typ: inFailed, reason: w.stopReason, healthy: healthy}
	}
	if cause := context.Cause(w.streamCtx); cause != nil {
		err = cause // the watchdog's error, whatever the source has returned
		if w.openedAt.IsZero() && reason.Of(err) == reason.NoBookmark {
			err = reasonError(reason.Silent, "no answer to a watch-list for %v", r.config.InitialEventsTimeout)
		}
	}
	if w.opts.SendInitialEvents && errors.Is(err, errors.ErrUnsupported) {
		return input{typ: inFailed, reason: reason.Refused, healthy: healthy} // not a failure
	}
	shortWatch := w.openedAt.IsZero() || now.Sub(w.openedAt) < shortWatchLimit
	if err != nil {
		if reason.Of(err) == reason.Forbidden {
			err = &reason.Error{Reason: reason.WatchForbidden, Err: err}
		}
		in := r.failed(err, healthy)
		in.shortWatch = shortWatch
		return in
	}
	return input{typ: inEnded, shortWatch: shortWatch, hasEvents: w.hasEvents, healthy: healthy}
}

type watch[T object.Object] struct {
	*run[T]
	opts       source.WatchOptions
	streamCtx  context.Context
	cancel     context.CancelCauseFunc
	watchdog   *watchdog
	startTimer *time.Timer // bounds the initial events, or the wait for a confirmation; else nil

	openedAt      time.Time // when the server accepted it
	watchingSince time.Time // the end of its initial events
	hasEvents     bool
	stopReason    reason.Reason // why step stopped the stream

	// The current series of events:
	unflushed              int
	hasObject, hasBookmark bool
}

// startWatchdog starts the watchdog for the time after the initial events, when bookmarks are
// expected.
func (w *watch[T]) startWatchdog() {
	limit := w.config.SilenceTimeout
	w.watchdog = newWatchdog(limit, func() { w.cancel(reasonError(reason.Silent, "no event and no bookmark for %v", limit)) })
}

func (w *watch[T]) opened() {
	if !w.openedAt.IsZero() {
		return
	}
	w.openedAt = time.Now()
	w.found()
	w.watchdog.restart(w.openedAt)
	if w.machine.restored {
		w.awaitConfirmation()
	}
	var a action
	w.step(&input{typ: inOpened}, &a)
	w.publish(&a)
	if w.machine.state == StateWatching {
		w.watchingSince = w.openedAt
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
	w.watchdog.pause()
	w.unflushed++
	w.hasEvents = true
	if w.machine.restored {
		if err := w.confirm(e.ResourceVersion); err != nil {
			return err
		}
	}
	if w.machine.state == StateWatching {
		// like step, without the copies
		if c, ok := w.machine.advance(e.Type, e.ResourceVersion); ok {
			if err := w.callSink(c, e); err != nil {
				return err
			}
			return w.eventDone(e.More)
		}
	}
	streaming := w.machine.state == StateStreaming
	// Before the bookmark, only initial events show progress.
	noProgress := streaming && e.Type != source.Added
	var start time.Time
	if noProgress {
		start = time.Now()
	}
	var a action
	w.step(&input{typ: inEvent, event: e.Type, version: e.ResourceVersion, initialEnd: e.InitialEventsEnd}, &a)
	if a.task == taskStop {
		w.stopReason = a.detected
		return errStop
	}
	if err := w.perform(&a, e); err != nil {
		return err
	}
	w.publish(&a)
	switch {
	case streaming && w.machine.state == StateWatching:
		now, err := w.flushSeries()
		w.watchdog.stop()
		w.startTimer.Stop()
		w.startWatchdog()
		w.watchingSince = now
		w.reflector.relist.watching(w.cancel)
		return err
	case noProgress:
		now, err := w.flushSeries()
		w.watchdog.resume(now.Sub(start))
		return err
	}
	return w.eventDone(e.More)
}

// eventDone flushes the series, unless more events have arrived, and restarts the watchdog.
func (w *watch[T]) eventDone(more bool) error {
	if more && w.unflushed < maxSeries {
		w.watchdog.restart(time.Now())
		return nil
	}
	now, err := w.flushSeries()
	w.watchdog.restart(now)
	return err
}

// maxSeries is the maximum number of events between two flushes of the sink and updates of
// Status, if the source has more of them ready.
const maxSeries = 128

func (w *watch[T]) flushSeries() (time.Time, error) {
	err := w.flush()
	now := time.Now()
	w.reflector.mu.Lock()
	defer w.reflector.mu.Unlock()
	s := &w.reflector.status
	if w.hasBookmark {
		s.LastBookmark = now
	}
	if w.hasObject {
		s.LastEvent = now
	}
	if w.machine.synced { // else the Sink has no state at that version
		s.ResourceVersion = w.machine.version
	}
	w.unflushed, w.hasObject, w.hasBookmark = 0, false, false
	return now, err
}

func (w *watch[T]) perform(a *action, e source.Event[T]) error {
	if a.call == callEndReplace {
		w.hasBookmark = true
		return w.finishReplace(a)
	}
	return w.callSink(a.call, e)
}

func (w *watch[T]) callSink(c call, e source.Event[T]) (err error) {
	if e.Type == source.Bookmark {
		w.hasBookmark = true
	} else {
		w.hasObject = true
	}
	sink := w.config.Sink
	switch c {
	case callReplace:
		err = sink.Replace(e.Object)
	case callAdd:
		err = sink.Add(e.Object)
	case callUpdate:
		err = sink.Update(e.Object)
	case callDelete:
		err = sink.Delete(e.Object)
	case callBookmark:
		err = sink.Bookmark(e.ResourceVersion)
	}
	if err != nil {
		w.sinkErr = err
	}
	return err
}

// errStop makes a source end a request; of a watch, stopReason has the reason.
var errStop = errors.New("the reflector ends the request")
