// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// watch answers with a stream of changes that ends with the request, at its timeout, or with an
// error as the last event.
func (h *Handler) watch(w http.ResponseWriter, req *http.Request, res Resource, target request.Target, r *request.Request) error {
	leave, err := h.watches.enter(req)
	if err != nil {
		return err
	}
	defer func() { leave() }()
	o := watchcache.WatchOptions{
		Filter:    filter(r),
		After:     r.State.Version,
		Bookmarks: r.Bookmarks,
		Timeout:   r.Timeout,
	}
	o.Format, _ = encodingOf(r.Format).events(kindOf(res, r.Partial))
	if o.Timeout == 0 {
		o.Timeout = h.config.WatchTimeout + rand.N(h.config.WatchTimeout)
	}
	if o.Timeout < 0 {
		h.stream(w, res, r, o)
		return nil
	}
	// The request's context may end before the watch does.
	reviews := h.startReviews(context.WithoutCancel(req.Context()), req, target)
	stop := reviews.stop
	defer func() { stop() }()
	var hijacked *hijackedWatch
	if canHijack(w, req) {
		hijacked = &hijackedWatch{h: h, leave: leave, encoding: encodingOf(r.Format)}
		o.Receive = hijacked.receive
		defer hijacked.dropEarly()
	}
	out, watcher, err := h.open(reviews.ctx, w, req, res, r, o)
	switch {
	case out == nil, err == nil && watcher == nil:
		return err // nil if the client has gone
	case err == nil && hijacked != nil:
		if err := hijacked.hijack(w, reviews, watcher); err != nil {
			panic(http.ErrAbortHandler) // the answer has begun
		}
		leave, stop = func() {}, func() {} // hijacked calls them
		return nil
	case err == nil:
		defer watcher.Close()
		h.watches.add(streamWatch{watcher})
		defer h.watches.remove(streamWatch{watcher})
		reviews.setEnd(watcher.Close)
		err = follow(req.Context(), out, watcher)
	}
	out.end(err)
	return nil
}

// open begins the answer to a watch, with the objects if the client wants them first, and opens the
// watch for the changes after them. Without a stream, the caller answers with the error; without
// watch and error, the client has gone. allowedCtx ends if the watch is denied.
func (h *Handler) open(allowedCtx context.Context, w http.ResponseWriter, req *http.Request, res Resource, r *request.Request, o watchcache.WatchOptions) (*stream, *watchcache.Watcher, error) {
	began := time.Now()
	var watcher *watchcache.Watcher
	var err error
	if !r.Initial {
		watcher, err = res.Cache.Watch(req.Context(), o)
	} else if err = res.Cache.WaitUntilFresh(req.Context(), o.After); err == nil {
		o.Timeout = max(o.Timeout-time.Since(began), 1)
		return h.join(allowedCtx, w, req, res, r, o)
	}
	if errors.As(err, new(*watchcache.NotReadyError)) {
		return nil, nil, err // all other errors are sent as events
	}
	return h.stream(w, res, r, o), watcher, err
}

// join is open for a watch that begins with the objects, once the cache has reached its version. It
// opens the watch for later changes first: a client that is slow to read the objects has a slow
// watch, whose events the cache may merge.
func (h *Handler) join(allowedCtx context.Context, w http.ResponseWriter, req *http.Request, res Resource, r *request.Request, o watchcache.WatchOptions) (*stream, *watchcache.Watcher, error) {
	leave, err := h.joins.enter(req)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	key := stateKey{res.Cache, r.Namespace, r.Labels.String(), r.Fields.String(), r.Shard, o.Format}
	st, err := h.states.join(key, o.Filter)
	var watcher *watchcache.Watcher
	if err == nil {
		defer h.states.leave(st)
		o.After, o.InitialEnd = st.version, r.Bookmarks
		watcher, err = res.Cache.Watch(req.Context(), o)
	}
	if errors.As(err, new(*watchcache.NotReadyError)) {
		return nil, nil, err
	}
	out := h.stream(w, res, r, o)
	if err != nil {
		return out, nil, err
	}
	out.stateDeadline = h.stateDeadline(st.size)
	defer func() { out.stateDeadline = time.Time{} }()
	for i := range st.chunks {
		data, err := st.chunks[i].bytes(&h.states, st, h.config.JoinBytes)
		if err == nil {
			err = allowedCtx.Err() // other ends reach the watcher, or the connection
		}
		if err != nil {
			watcher.Close()
			return out, nil, err
		}
		if out.write(data) != nil {
			watcher.Close()
			return out, nil, nil
		}
	}
	return out, watcher, nil
}

// follow sends the watcher's events until it ends, and returns the reason; nil if the client has
// gone.
func follow(ctx context.Context, out *stream, watcher *watchcache.Watcher) error {
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		if out.send(events) != nil {
			return nil
		}
	}
}

type stream struct {
	connection
	encoding encoding
	frames   *frameBudget
}

// stream begins the answer, so that the client learns at once that its watch is open.
func (h *Handler) stream(w http.ResponseWriter, res Resource, r *request.Request, o watchcache.WatchOptions) *stream {
	s := &stream{h.connection(w), encodingOf(r.Format), &h.frames}
	if o.Receive != nil { // the connection will be taken over
		w.Header().Set("Connection", "close")
	}
	_, media := s.encoding.events(kindOf(res, r.Partial))
	w.Header().Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	_ = s.flush() // if the client has gone, so has the request's context
	return s
}

func (s *stream) send(events []watchcache.Event) error {
	frames := appendFrames(nil, events)
	defer s.frames.hold(frames, s.disconnect)()
	if _, err := writeParts(s, frames, &recordBuffers); err != nil {
		return err
	}
	return s.flush()
}

func (s *stream) disconnect() { _ = s.control.SetWriteDeadline(time.Unix(1, 0)) }

func (s *stream) write(frames []byte) error {
	if _, err := s.Write(frames); err != nil {
		return err
	}
	return s.flush()
}

// end ends the stream. An error is sent as an event, unless it is just the end of the watch, the
// request or the cache.
func (s *stream) end(err error) {
	if event := lastEvent(err, s.encoding); event != nil {
		_ = s.write(event) // the last write in any case
	}
}

// lastEvent returns the event for an error that ends a watch, or nil.
func lastEvent(err error, in encoding) []byte {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || errors.As(err, new(*watchcache.NotReadyError)) {
		return nil
	}
	return in.failure(statusOf(err))
}
