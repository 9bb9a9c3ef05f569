// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// shortWatchLimit is the age below which an ended watch counts as short.
const shortWatchLimit = time.Second

// run is one call of Run: it carries out the actions of step and passes their results back, all on
// Run's goroutine.
type run[T object.Object] struct {
	reflector *Reflector[T]
	config    *Config[T]
	ctx       context.Context
	log       klog.Logger

	flusher flusher // the Sink; nil if it has no Flush

	// Fields, because as local variables in a long watch they would enlarge the stack of a parked
	// goroutine:
	in   input  // the last input of step
	todo action // the current action

	machine        machine
	publishedState State         // the state last published in Status
	waits          int           // in a row
	absent         bool          // the server lacks the resource, by its last word
	replacing      bool          // the sink is between BeginReplace and EndReplace or AbortReplace
	cause          reason.Reason // the reason for reading the current or last full state
	sinkErr        error         // the first one; it ends the run
}

func newRun[T object.Object](ctx context.Context, r *Reflector[T]) *run[T] {
	c := &r.config
	log := c.Logger
	if log.GetSink() == nil {
		log = klog.FromContext(ctx)
	}
	flush, _ := c.Sink.(flusher)
	return &run[T]{
		reflector: r,
		config:    c,
		ctx:       ctx,
		log:       log.WithValues("reflector", c.Name),
		flusher:   flush,
		machine: machine{
			rules:       rules{pageSize: c.PageSize, watchList: !c.DisableWatchList, optional: c.Optional},
			version:     r.Status().ResourceVersion,
			needsLatest: r.noReuse,
			noReuse:     r.noReuse,
		},
	}
}

func (r *run[T]) loop() error {
	r.reflector.update(func(s *Status) { s.Synced, s.Attempts, s.Reason = false, 0, reason.None })
	r.in = input{typ: inStart, version: r.restore()}
	for r.decide() {
		r.do()
	}
	return r.end()
}

// decide takes a step and reports whether to go on.
func (r *run[T]) decide() bool {
	if r.stopping() {
		return false
	}
	r.step(&r.in, &r.todo)
	r.finishReplace(&r.todo)
	if r.stopping() {
		return false
	}
	r.publish(&r.todo)
	return true
}

func (r *run[T]) end() error {
	if r.replacing && r.sinkErr == nil {
		r.trySink(r.config.Sink.AbortReplace)
	}
	r.reflector.noReuse = r.machine.noReuse
	r.setState(StateStopped, time.Time{})
	if r.ctx.Err() != nil {
		// Closing the sink because of ctx may have caused sinkErr.
		return nil
	}
	return fmt.Errorf("reflector %s: sink: %w", r.config.Name, r.sinkErr)
}

// step takes a step of the machine, stores the action in a, and publishes a failure noticed by the
// machine itself. It does not return the action: with one more copy on the stack, the goroutine of
// each informer would need more than 4 KB.
func (r *run[T]) step(in *input, a *action) {
	inRound := r.machine.inRound()
	*a = r.machine.step(in)
	if !inRound && r.machine.inRound() {
		r.cause = cmp.Or(a.detected, in.reason)
	}
	if a.detected != reason.None && a.task != taskStop {
		r.failure(a.detected, &reason.Error{Reason: a.detected})
	}
}

// publish publishes a change of state, after its calls to the sink.
func (r *run[T]) publish(a *action) {
	if a.task == taskWait {
		if a.delay == 0 {
			r.waits++
			a.delay = r.config.Backoff.Wait(r.waits)
		}
		state := StateWaiting
		if r.absent {
			state = StateAbsent
		}
		r.setState(state, time.Now().Add(a.delay))
	} else if !r.absent && r.machine.state != r.publishedState {
		r.setState(r.machine.state, time.Time{})
	}
}

// finishReplace makes the action's call to the sink if it ends a replace.
func (r *run[T]) finishReplace(a *action) error {
	switch a.call {
	case callEndReplace:
		r.replacing = false
		if r.trySink(func() error { return r.config.Sink.EndReplace(a.callVersion) }) == nil {
			r.reflector.relist.complete()
			r.reflector.update(func(s *Status) {
				if s.Synced || s.ResourceVersion != "" {
					s.countRelist(r.cause)
				}
				s.Synced, s.ResourceVersion = true, a.callVersion
				if a.restored {
					s.Restored = a.callVersion
				}
			})
			r.log.V(2).Info("Full state read", "resourceVersion", a.callVersion)
		}
	case callAbortReplace:
		if r.replacing {
			r.replacing = false
			r.trySink(r.config.Sink.AbortReplace)
		}
	}
	return r.sinkErr
}

func (r *run[T]) trySink(call func() error) error {
	if err := call(); err != nil {
		r.sinkErr = err
	}
	return r.sinkErr
}

func (r *run[T]) flush() error {
	if r.flusher == nil {
		return nil
	}
	return r.trySink(r.flusher.Flush)
}

func (r *run[T]) do() {
	switch r.todo.task {
	case taskWatchList, taskWatch:
		r.watch()
	case taskList, taskPage:
		r.in = r.page(&r.todo)
	case taskProbe:
		r.in = r.probe()
	default:
		r.pause()
	}
}

func (r *run[T]) pause() {
	r.in = input{typ: inElapsed}
	if r.todo.task != taskWait {
		return
	}
	timer := time.NewTimer(r.todo.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
}

func (r *run[T]) beginReplace() error {
	r.reflector.relist.begin()
	r.replacing = true
	return r.trySink(r.config.Sink.BeginReplace)
}

func (r *run[T]) page(a *action) input {
	if a.task == taskList && r.beginReplace() != nil {
		return input{}
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	limit := r.config.SilenceTimeout
	wd := newWatchdog(limit, func() { cancel(reasonError(reason.Silent, "no object of the list for %v", limit)) })
	defer wd.stop()

	items := 0
	var last time.Time
	result, err := r.config.Source.List(ctx, source.ListOptions{
		ResourceVersion: a.version, ResourceVersionMatch: a.match, Limit: a.limit, Continue: a.token, NoReuse: r.machine.noReuse,
		Skipped: func() { wd.restart(time.Now()) },
	}, func(obj T) error {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		wd.pause()
		r.found()
		items++
		if err := r.config.Sink.Replace(obj); err != nil {
			r.sinkErr = err
			return err
		}
		last = time.Now()
		wd.restart(last)
		if items%maxSeries == 0 {
			r.reflector.update(func(s *Status) { s.LastEvent = last })
		}
		return nil
	})
	wd.stop()
	if r.sinkErr == nil {
		_ = r.flush() // the error is in sinkErr
	}
	if items > 0 {
		r.reflector.update(func(s *Status) { s.LastEvent = last })
	}
	if r.stopping() {
		return input{}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause // the watchdog's error, whatever the source has returned
	}
	if err != nil {
		return r.failed(err, false)
	}
	r.found()
	return input{typ: inPage, version: result.ResourceVersion, token: result.Continue, items: items + result.Skipped}
}

// probe asks for the most recent version, by a list of one object. If that fails, the version stays
// unknown, and the next watch shows the problem.
func (r *run[T]) probe() input {
	ctx, cancel := context.WithTimeout(r.ctx, r.config.InitialEventsTimeout)
	defer cancel()
	items := 0
	result, err := r.config.Source.List(ctx, source.ListOptions{Limit: 1, VersionOnly: true}, func(T) error {
		if items++; items > 1 {
			return errStop // the server ignores the limit
		}
		return nil
	})
	if err != nil {
		r.log.V(2).Info("Failed to get the server's resource version", "err", err)
		return input{typ: inProbed}
	}
	return input{typ: inProbed, version: result.ResourceVersion}
}

func (r *run[T]) failed(err error, healthy bool) input {
	in := input{typ: inFailed, reason: reason.Of(err), retryAfter: reason.RetryAfter(err), healthy: healthy}
	switch in.reason {
	case reason.NotFound:
		if r.config.Optional {
			in.retryAfter = max(in.retryAfter, r.config.Backoff.Wait(math.MaxInt))
			r.missing()
			return in
		}
	case reason.Unauthorized, reason.Forbidden, reason.WatchForbidden, reason.Throttled, reason.ServerError, reason.Unreachable, reason.Silent:
		// says nothing about the resource
	default:
		r.found()
	}
	r.failure(in.reason, err)
	return in
}

// missing is called when the server does not have an optional resource.
func (r *run[T]) missing() {
	r.waits = 0
	r.reflector.update(func(s *Status) { s.Reason, s.Attempts = reason.None, 0 })
	if !r.absent {
		r.absent = true
		r.log.Info("The server does not have the resource; will wait for it", "askAgainWithin", r.config.Backoff.Max)
	}
}

// found is called when the server has shown that it has the resource.
func (r *run[T]) found() {
	if r.absent {
		r.absent = false
		r.log.Info("The server has the resource now")
		r.setState(r.machine.state, time.Time{})
	}
}

func reasonError(why reason.Reason, format string, limit time.Duration) error {
	return &reason.Error{Reason: why, Err: fmt.Errorf(format, limit)}
}

func (r *run[T]) failure(why reason.Reason, err error) {
	now := time.Now()
	var attempts int
	r.reflector.update(func(s *Status) {
		s.Reason, s.LastError, s.LastErrorTime = why, err, now
		s.Attempts++
		attempts = s.Attempts
		if why == reason.BadData || why == reason.Transform {
			s.BadData++
		}
	})
	switch {
	case why == reason.Expired:
		// Normal: the server keeps its history for a limited time.
		r.log.V(2).Info("The server has forgotten the resource version", "state", r.machine.state, "resourceVersion", r.machine.version)
	case why == reason.Silent && r.machine.state == StateWatching:
		// Normal too: there are no bookmarks while nothing changes.
		r.log.V(2).Info("The watch was silent; will open another one", "resourceVersion", r.machine.version)
	default:
		r.log.Error(err, "Failed to list or watch; will try again", "state", r.machine.state, "reason", why, "attempts", attempts)
	}
	if r.config.OnError != nil {
		r.config.OnError(err)
	}
}

func (r *run[T]) setState(state State, retryAt time.Time) {
	r.publishedState = state
	now := time.Now()
	r.reflector.update(func(s *Status) {
		if s.State != state {
			s.Since = now
		}
		s.State, s.RetryAt = state, retryAt
		if state == StateWatching {
			s.Reason = reason.None
		}
	})
	r.log.V(4).Info("State changed", "state", state, "resourceVersion", r.machine.version)
	if r.config.OnState != nil {
		r.config.OnState(state)
	}
}

func (r *run[T]) stopping() bool { return r.sinkErr != nil || r.ctx.Err() != nil }
