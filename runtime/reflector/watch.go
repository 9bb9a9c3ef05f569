// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// watch reads a watch, or a watch-list and the watch that it becomes.
func (r *run[T]) watch(a action) input {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	timeout := r.config.WatchTimeout + time.Duration(rand.Float64()*float64(r.config.WatchTimeout))

	w := watch[T]{run: r, cancel: cancel}
	if a.op == opStream {
		limit := r.config.InitialEventsTimeout
		w.dog = newWatchdog(limit, func() { cancel(fmt.Errorf("%w: no initial event for %v", ErrNoBookmark, limit)) })
		// A server that doesn't support watch-lists may send other events for long, and never the bookmark.
		w.total = time.AfterFunc(timeout+limit, func() { cancel(ErrNoBookmark) })
		defer w.total.Stop()
	} else {
		w.watching()
	}
	defer func() { w.dog.stop() }()

	err := r.config.Source.Watch(ctx, source.WatchOptions{
		ResourceVersion: a.version, SendInitialEvents: a.op == opStream, Timeout: timeout,
	}, w.opened, w.event)
	if r.stopping() {
		return input{}
	}
	now := time.Now()
	healthy := !w.well.IsZero() && now.Sub(w.well) >= r.config.Backoff.ResetAfter
	if healthy {
		r.waits = 0
		r.r.update(func(s *Status) { s.Attempts = 0 })
	}
	if w.left != ReasonNone {
		r.failure(w.left, found[w.left])
		return input{kind: inFailed, reason: w.left, healthy: healthy}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause // the watchdog's, whatever the source makes of it
		if w.open.IsZero() && errors.Is(err, ErrNoBookmark) {
			err = fmt.Errorf("%w: no answer to a watch-list for %v", ErrSilent, r.config.InitialEventsTimeout)
		}
	}
	brief := w.open.IsZero() || now.Sub(w.open) < briefly
	if err != nil {
		in := r.failed(err, healthy)
		in.brief = brief
		return in
	}
	return input{kind: inEnded, brief: brief, events: w.events, healthy: healthy}
}

// watch is one open stream.
type watch[T object.Object] struct {
	*run[T]
	cancel context.CancelCauseFunc
	dog    *watchdog
	total  *time.Timer // of a watch-list

	open   time.Time // when the server accepted it
	well   time.Time // since when it has been open and past its initial events
	events bool
	left   Reason // why step wanted to leave it
}

// watching arms the watchdog for the time when bookmarks can be expected.
func (w *watch[T]) watching() {
	limit := w.config.SilenceTimeout
	w.dog = newWatchdog(limit, func() { w.cancel(fmt.Errorf("%w: no event and no bookmark for %v", ErrSilent, limit)) })
}

func (w *watch[T]) opened() {
	if !w.open.IsZero() {
		return
	}
	w.open = time.Now()
	w.dog.back(w.open)
	a := w.step(input{kind: inOpened})
	w.publish(&a)
	if w.state.phase == StateWatching {
		w.well = w.open
	}
}

func (w *watch[T]) event(e source.Event[T]) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.opened()
	if e.Type < source.Added || e.Type > source.Bookmark { // step would take it for a bookmark
		return &source.DecodeError{Verb: "watch", Err: fmt.Errorf("%w: the source's number %d", source.ErrUnknownEvent, e.Type)}
	}
	w.dog.away()
	w.events = true
	streaming := w.state.phase == StateStreaming
	// Before the bookmark, only initial events show progress.
	noise := streaming && e.Type != source.Added
	var start time.Time
	if noise {
		start = time.Now()
	}
	a := w.step(input{kind: inEvent, event: e.Type, version: e.ResourceVersion, initialEnd: e.InitialEventsEnd})
	if a.op == opLeave {
		w.left = a.found
		return errLeave
	}
	if err := w.pass(a, e); err != nil {
		return err
	}
	w.publish(&a)
	now := time.Now()
	version := w.state.version
	w.r.update(func(s *Status) {
		if e.Type == source.Bookmark {
			s.LastBookmark = now
		} else {
			s.LastEvent = now
		}
		s.ResourceVersion = version
	})
	switch {
	case streaming && w.state.phase == StateWatching:
		w.dog.stop()
		w.total.Stop()
		w.watching()
		w.well = now
	case noise:
		w.dog.backFromNoise(now.Sub(start))
	default:
		w.dog.back(now)
	}
	return nil
}

// pass makes the action's call about an event.
func (w *watch[T]) pass(a action, e source.Event[T]) error {
	sink := w.config.Sink
	var err error
	switch a.call {
	case callReplace:
		err = sink.Replace(e.Object)
	case callAdd:
		err = sink.Add(e.Object)
	case callUpdate:
		err = sink.Update(e.Object)
	case callDelete:
		err = sink.Delete(e.Object)
	case callBookmark:
		err = sink.Bookmark(a.told)
	default:
		return w.tell(a)
	}
	if err != nil {
		w.sinkErr = err
	}
	return err
}

// errLeave makes a source end a stream; why is in watch.left.
var errLeave = errors.New("the reflector leaves the stream")
