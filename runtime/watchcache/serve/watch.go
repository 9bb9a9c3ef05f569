// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/request"
)

// watch answers a request for changes: by a stream that ends with the request, at its timeout, or
// after an error, which is its last event then.
func (h *Handler) watch(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = h.watchTimeout + rand.N(h.watchTimeout)
	}
	o := watchcache.WatchOptions{
		Filter:        filter(r),
		After:         r.State.Version,
		InitialEvents: r.Initial,
		Bookmarks:     r.Bookmarks,
		Timeout:       timeout,
		Format:        watchcache.JSON{APIVersion: res.GroupVersion().String(), Kind: res.Kind},
	}
	if r.Partial != "" {
		o.Format = metadataEvents{r.Partial}
	}
	if timeout < 0 {
		h.stream(w)
		return nil
	}
	watcher, err := res.Cache.Watch(req.Context(), o)
	if err == nil {
		defer watcher.Close()
	} else if notReady := (*watchcache.NotReadyError)(nil); errors.As(err, &notReady) {
		return err // all others are events
	}
	out := h.stream(w)
	for err == nil {
		var events []watchcache.Event
		if events, err = watcher.Next(req.Context()); err != nil {
			break
		}
		if out.send(events) != nil {
			return nil // the client has gone
		}
	}
	out.end(err)
	return nil
}

// stream is an answer of events.
type stream struct{ connection }

// stream begins one. The client gets to know at once that its watch is open.
func (h *Handler) stream(w http.ResponseWriter) stream {
	s := stream{h.connection(w)}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = s.flush() // if the client has gone, so has the request's context
	return s
}

// batches are buffers for events that are sent together.
var batches = sync.Pool{New: func() any { return new([]byte) }}

// send sends events that a watcher has got at once.
func (s stream) send(events []watchcache.Event) error {
	data := events[0].Frame
	if len(events) > 1 {
		buffer := batches.Get().(*[]byte)
		defer batches.Put(buffer)
		*buffer = (*buffer)[:0]
		for _, e := range events {
			*buffer = append(*buffer, e.Frame...)
		}
		data = *buffer
	}
	if _, err := s.Write(data); err != nil {
		return err
	}
	return s.flush()
}

// end ends the stream: with an event that has the error, unless it is the end of the watch, of the
// request or of the cache.
func (s stream) end(err error) {
	var notReady *watchcache.NotReadyError
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || errors.As(err, &notReady) {
		return
	}
	event, err := json.Marshal(struct {
		Type   string         `json:"type"`
		Object *metav1.Status `json:"object"`
	}{string(watch.Error), statusOf(err)})
	if err != nil {
		return // a status has JSON
	}
	if _, err := s.Write(append(event, '\n')); err == nil {
		_ = s.flush()
	}
}
