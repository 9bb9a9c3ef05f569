// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

const (
	minRequestTimeout = 30 * time.Minute
	// lastBookmark is the time from a watch's last bookmark to its end.
	lastBookmark = 2 * time.Second
)

// stream is an open watch. The goroutine reading the response's body uses it.
//
// Bookmarks and the end come from its own timer, not from the cache's clock, which needs a
// goroutine. And a late client gets all events before the end.
type stream struct {
	// set once at construction
	c       *collection
	query   query
	history *history
	watcher *watchcache.Watcher // nil if the watch was refused
	end     time.Time

	queue []Event     // waiting to be sent
	sent  uint64      // last version sent or queued
	ends  int         // the server's ends when the watch began
	marks int         // the server's bookmarks sent so far
	timer *time.Timer // for the next bookmark or the end
	due   bool        // a bookmark is due, if anything has changed
}

func (c *collection) watch(ctx context.Context, q query) *stream {
	s := c.server
	s.mu.Lock()
	w := &stream{c: c, query: q, history: c.history, ends: s.ends, marks: s.bookmarks}
	oldest := w.history.oldest
	s.mu.Unlock()
	timeout := q.Timeout
	if timeout == 0 {
		timeout = minRequestTimeout
	}
	w.end = time.Now().Add(timeout)
	w.timer = time.NewTimer(w.untilTimer())

	o := watchcache.WatchOptions{
		Filter: q.filter(), After: q.State.Version, InitialEvents: q.Initial,
		Bookmarks: q.Bookmarks, // for the bookmark after the initial events
	}
	var err error
	if q.State.Match == request.Exactly && o.After < oldest {
		err = &watchcache.ExpiredError{Version: o.After, Oldest: oldest}
	} else {
		w.watcher, err = w.history.cache.Watch(ctx, o)
	}
	if err != nil {
		w.queue = []Event{{string(watch.Error), refusal(err)}}
		return w
	}
	w.sent = w.watcher.Version()
	return w
}

func (w *stream) untilTimer() time.Duration {
	left, interval := time.Until(w.end), w.c.server.bookmarkInterval()
	if last := left - lastBookmark; w.query.Bookmarks && interval > 0 && last > 0 {
		return min(interval, last)
	}
	return left
}

// next waits for the next event. It returns io.EOF at the end, or an error if one of the channels
// is closed.
func (w *stream) next(done, closed <-chan struct{}) (Event, error) {
	for {
		event, ok, wait, err := w.take()
		if ok || err != nil {
			return event, err
		}
		select {
		case <-wait:
		case <-w.timer.C:
			if time.Until(w.end) <= 0 {
				return Event{}, io.EOF
			}
			w.due = true
			w.timer.Reset(w.untilTimer())
		case <-done:
			return Event{}, errDone
		case <-closed:
			return Event{}, errDone
		}
	}
}

// canceled is a canceled context: calls with it don't wait.
var canceled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (w *stream) take() (event Event, ok bool, wait <-chan struct{}, err error) {
	if len(w.queue) == 0 && w.watcher == nil {
		return event, false, nil, io.EOF
	}
	s := w.c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(w.queue) == 0 {
		events, _ := w.watcher.Next(canceled) // the only error is canceled's
		for _, e := range events {
			w.sent = e.Version
			w.queue = append(w.queue, w.event(e))
		}
	}
	if len(w.queue) > 0 {
		event, w.queue = w.queue[0], w.queue[1:]
		return event, true, nil, nil
	}
	if w.ends != s.ends {
		return event, false, nil, io.EOF
	}
	wanted := w.marks != s.bookmarks && s.version >= w.watcher.Version() || w.due && s.version > w.sent
	w.marks, w.due = s.bookmarks, false
	if wanted && w.query.Bookmarks {
		w.sent = s.version
		return w.event(watchcache.Event{Type: watch.Bookmark, Version: s.version}), true, nil, nil
	}
	return event, false, s.waitLocked(), nil
}

func (w *stream) event(e watchcache.Event) Event {
	obj := w.c.newObject()
	if e.Object != nil {
		obj = w.history.objects[e.Object.Version]
	}
	sent := w.c.out(obj, w.query.Partial)
	sent.(object.Object).SetResourceVersion(format(e.Version))
	if e.InitialEnd {
		sent.(object.Object).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return Event{string(e.Type), sent}
}

func (w *stream) stop() {
	w.timer.Stop()
	if w.watcher != nil {
		w.watcher.Close()
	}
}
