// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	maxAttempts = 10
	firstDelay  = time.Second
	maxDelay    = 30 * time.Second
)

// identity has the fields that repeated Events have in common. The recorder's own are those of one
// controller. The references have no resourceVersion, so the object may change between Events.
type identity struct {
	kind, reason, action string
	regarding, related   corev1.ObjectReference
}

// series is an Event and its repetitions.
type series struct {
	// set once at construction
	event *eventsv1.Event

	// Recorder.mu guards the fields below
	count    int32
	last     time.Time // when count was changed
	queued   bool
	attempts int       // since it was queued
	settled  int32     // the last count sent or given up
	tried    time.Time // when settled was changed

	created bool // the server has the Event; used by Run alone
}

// add records an Event.
func (r *Recorder) add(e *eventsv1.Event) {
	id := identity{kind: e.Type, reason: e.Reason, action: e.Action, regarding: e.Regarding}
	if e.Related != nil {
		id.related = *e.Related
	}
	id.regarding.ResourceVersion, id.related.ResourceVersion = "", ""
	now := e.EventTime.Time
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	s := r.known[id]
	if s == nil {
		if len(r.queue) >= maxWaiting {
			r.dropped++
			return
		}
		r.makeRoomLocked()
		e.Name = newName(e.Regarding.Name)
		s = &series{event: e}
		r.known[id] = s
	}
	s.count++
	s.last = now
	if !s.queued && now.Sub(s.tried) >= period {
		r.enqueueLocked(s)
	}
}

// makeRoomLocked forgets an Event that does not wait, if too many are known.
func (r *Recorder) makeRoomLocked() {
	if len(r.known) < maxKnown {
		return
	}
	for id, s := range r.known {
		if !s.queued {
			delete(r.known, id)
			return
		}
	}
}

func (r *Recorder) enqueueLocked(s *series) {
	s.queued, s.attempts = true, 0
	r.queue = append(r.queue, s)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run sends Events until ctx is done, or the recorder is shut down and none waits.
func (r *Recorder) run(ctx context.Context) error {
	sweep := time.NewTicker(period)
	defer sweep.Stop()
	delay := firstDelay
	for ctx.Err() == nil {
		s, closed := r.next()
		switch {
		case s != nil && r.try(ctx, s):
			delay = firstDelay
		case s != nil:
			select {
			case <-ctx.Done():
			case <-r.closing:
			case <-time.After(delay):
			}
			delay = min(2*delay, maxDelay)
		case closed:
			return nil
		default:
			select {
			case <-ctx.Done():
			case <-r.closing:
			case <-r.wake:
			case now := <-sweep.C:
				r.sweep(ctx, now)
			}
		}
	}
	return context.Cause(ctx)
}

// next returns the series to be sent next, or nil.
func (r *Recorder) next() (s *series, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) > 0 {
		s = r.queue[0]
	}
	return s, r.closed
}

// try sends the first series of the queue. It returns false if the server can't take Events now.
func (r *Recorder) try(ctx context.Context, s *series) bool {
	e, count := r.state(s)
	err := r.send(ctx, e, s.created)
	if ctx.Err() != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = r.queue[1:]
	s.attempts++
	again := err != nil && isTemporary(err)
	switch {
	case err == nil:
		s.created = true
	case r.closed:
		r.dropped++
		r.lastErr = err
	case again && s.attempts < maxAttempts:
		r.queue = append(r.queue, s)
		return false
	default:
		r.logLocked(ctx, e, err)
	}
	s.queued, s.settled, s.tried = false, count, time.Now()
	if r.closed && err == nil && s.count > count { // repeated meanwhile
		r.enqueueLocked(s)
	}
	return !again
}

// state returns a series as the server should have it.
func (r *Recorder) state(s *series) (e *eventsv1.Event, count int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e = s.event.DeepCopy()
	if s.count > 1 {
		e.Series = &eventsv1.EventSeries{Count: s.count, LastObservedTime: metav1.MicroTime{Time: s.last}}
	}
	return e, s.count
}

func (r *Recorder) send(ctx context.Context, e *eventsv1.Event, created bool) error {
	if created {
		patch, err := json.Marshal(map[string]any{"series": e.Series})
		if err != nil {
			return err
		}
		if _, _, err = r.events.Patch(ctx, object.KeyOf(e), types.MergePatchType, patch); !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, _, err := r.events.Create(ctx, e)
	if apierrors.IsAlreadyExists(err) { // by an attempt whose answer was lost
		return nil
	}
	return err
}

// isTemporary reports whether the server may take the same request later.
func isTemporary(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout
}

func (r *Recorder) logLocked(ctx context.Context, e *eventsv1.Event, err error) {
	logger := klog.FromContext(ctx).WithValues("controller", r.controller)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		logger.V(2).Info("An Event was dropped, since its namespace is being deleted", "event", klog.KObj(e))
	case !apierrors.IsForbidden(err):
		logger.Error(err, "An Event was dropped", "event", klog.KObj(e), "reason", e.Reason, "note", e.Note)
	case !r.advised:
		r.advised = true
		logger.Error(err, "Events are dropped; grant the verbs create and patch for events of the API group events.k8s.io")
	}
}

// sweep enqueues the Events repeated since they were sent, and forgets those long not repeated.
func (r *Recorder) sweep(ctx context.Context, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, s := range r.known {
		switch {
		case s.queued:
		case s.count > s.settled:
			r.enqueueLocked(s)
		case now.Sub(s.last) >= forgetTime:
			delete(r.known, id)
		}
	}
	if r.dropped > 0 {
		klog.FromContext(ctx).Error(nil, "Events were dropped, since too many waited to be sent", "controller", r.controller, "dropped", r.dropped, "limit", maxWaiting)
		r.dropped = 0
	}
}
