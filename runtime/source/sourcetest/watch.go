// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// minRequestTimeout is when a watch without timeoutSeconds ends.
const minRequestTimeout = 30 * time.Minute

// stream is an open watch. The goroutine that reads the body of the response uses it.
type stream struct {
	// set once at construction
	c     *collection
	query query

	queue    []Event // to be sent before anything else
	last     bool    // the stream ends with the queue
	at       *change // all changes up to this one were sent
	sent     int64   // the last version that was sent
	ends     int     // of the server, when the watch began
	marks    int     // the server's bookmarks that were sent
	deadline *time.Timer
	marking  *time.Timer // nil without bookmarks at intervals
	end      time.Time
}

// watch answers a watch request.
func (c *collection) watch(q query) *stream {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &stream{c: c, query: q, at: c.newest, sent: s.version, ends: s.ends, marks: s.bookmarks}
	timeout := q.timeout
	if timeout == 0 {
		timeout = minRequestTimeout
	}
	w.end = time.Now().Add(timeout)
	w.deadline = time.NewTimer(timeout)
	if q.bookmarks && s.bookmarkInterval() > 0 {
		w.marking = time.NewTimer(min(s.bookmarkInterval(), max(timeout-2*time.Second, 0)))
	}
	switch {
	case q.number > s.version && q.initial:
		w.fail(tooLarge(q.number, s.version))
	case q.initial || q.number == 0 && !q.changesOnly:
		for _, obj := range sorted(c.objects) {
			if q.selects(c, obj) {
				w.queue = append(w.queue, Event{string(watch.Added), c.out(obj, q.metadataOnly)})
			}
		}
		if q.initial && q.bookmarks {
			mark := w.bookmark(s.version)
			mark.Object.(object.Object).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
			w.queue = append(w.queue, mark)
		}
	case q.number == 0: // from now on
	case q.number < c.compacted:
		w.fail(expired(q.number, c.compacted))
	default:
		w.at, w.sent = c.find(q.number), q.number
	}
	return w
}

func (w *stream) fail(status *metav1.Status) {
	w.queue, w.last = []Event{{string(watch.Error), status}}, true
}

func (w *stream) bookmark(version int64) Event {
	obj := w.c.newObject()
	obj.SetResourceVersion(format(version))
	return Event{string(watch.Bookmark), w.c.out(obj, w.query.metadataOnly)}
}

// next returns the next event as soon as there is one, io.EOF at the end, or an error if one of the
// channels is closed.
func (w *stream) next(done, closed <-chan struct{}) (Event, error) {
	for {
		event, ok, wait, err := w.take()
		if ok || err != nil {
			return event, err
		}
		var marking <-chan time.Time
		if w.marking != nil {
			marking = w.marking.C
		}
		select {
		case <-wait:
		case <-w.deadline.C:
			return Event{}, io.EOF
		case <-marking:
			if event, ok := w.mark(); ok {
				return event, nil
			}
		case <-done:
			return Event{}, errDone
		case <-closed:
			return Event{}, errDone
		}
	}
}

// take returns the next event, or else a channel to wait for.
func (w *stream) take() (event Event, ok bool, wait <-chan struct{}, err error) {
	if len(w.queue) > 0 {
		event, w.queue = w.queue[0], w.queue[1:]
		return event, true, nil, nil
	}
	if w.last {
		return event, false, nil, io.EOF
	}
	s := w.c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for w.at.next != nil {
		w.at = w.at.next
		if w.at.version <= w.query.number {
			continue // a watch from a version that was not reached yet
		}
		if event, ok := w.translate(w.at); ok {
			w.sent = w.at.version
			return event, true, nil, nil
		}
	}
	switch {
	case w.ends != s.ends:
		return event, false, nil, io.EOF
	case w.marks != s.bookmarks:
		w.marks = s.bookmarks
		if w.query.bookmarks && s.version >= w.query.number {
			w.sent = s.version
			return w.bookmark(s.version), true, nil, nil
		}
	}
	return event, false, s.waitLocked(), nil
}

// mark returns the bookmark that is due, if anything has changed since the last event that was
// sent.
func (w *stream) mark() (Event, bool) {
	s := w.c.server
	left := time.Until(w.end)
	if left > 2*time.Second {
		w.marking.Reset(min(s.bookmarkInterval(), left-2*time.Second))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.at.next != nil || s.version == w.sent || s.version < w.query.number {
		return Event{}, false
	}
	w.sent = s.version
	return w.bookmark(s.version), true
}

// translate returns the event for a change, and false if the watch doesn't select it.
func (w *stream) translate(ch *change) (Event, bool) {
	before, after := w.query.selects(w.c, ch.prev), w.query.selects(w.c, ch.obj)
	switch {
	case before && after:
		return Event{string(watch.Modified), w.c.out(ch.obj, w.query.metadataOnly)}, true
	case after:
		return Event{string(watch.Added), w.c.out(ch.obj, w.query.metadataOnly)}, true
	case before:
		// The last state that the watch selects, at the version of the change.
		obj := w.c.out(ch.prev, w.query.metadataOnly)
		obj.(object.Object).SetResourceVersion(format(ch.version))
		return Event{string(watch.Deleted), obj}, true
	}
	return Event{}, false
}

func (w *stream) stop() {
	w.deadline.Stop()
	if w.marking != nil {
		w.marking.Stop()
	}
}
