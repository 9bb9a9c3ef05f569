// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

type watches struct {
	mu sync.Mutex // mu guards what follows
	quota
	open     map[openWatch]struct{} // watches past their initial state
	closing  bool                   // no more may begin
	aborting bool                   // watches added from now on are ended at once
	drained  chan struct{}          // closed when closing and no request is left
}

type openWatch interface {
	Finish() // ends it soon, with a bookmark
	abort()  // ends it now
	wait()   // waits for its end, after abort
}

// streamWatch is a watch in a goroutine of net/http, which ends it and needs no waiting.
type streamWatch struct{ *watchcache.Watcher }

func (s streamWatch) abort() { s.Close() }
func (streamWatch) wait()    {}

func newWatches(limit int) *watches {
	return &watches{quota: quota{limit: limit, share: max(1, limit/100)}, open: map[openWatch]struct{}{}, drained: make(chan struct{})}
}

func (o *watches) enter(req *http.Request) (leave func(), err error) {
	c := callerOf(req)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closing:
		return nil, apierrors.NewTooManyRequests("the server is shutting down; watch at another one", 1)
	case !o.acquire(c):
		return nil, tooMany("watches are open")
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.release(c)
		if o.closing && o.used == 0 {
			close(o.drained)
		}
	}, nil
}

// add registers a request's watch. remove must be called before leave.
func (o *watches) add(w openWatch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[w] = struct{}{}
	switch {
	case o.aborting:
		w.abort()
	case o.closing:
		w.Finish()
	}
}

func (o *watches) remove(w openWatch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, w)
}

// close stops further requests from entering, and returns the open watches.
func (o *watches) close(abort bool) []openWatch {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.aborting = o.aborting || abort
	if !o.closing {
		o.closing = true
		if o.used == 0 {
			close(o.drained)
		}
	}
	return slices.Collect(maps.Keys(o.open))
}

func (o *watches) isClosing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closing
}

// Shutdown ends all watches one by one, in random order spread over a duration, so that their
// clients don't reach other servers all at once. A watch with bookmarks gets a last one, from which
// its client continues elsewhere. Meanwhile new watches are refused with 429, and answers ask
// clients to make new connections.
//
// Shutdown returns when the last watch has ended, two seconds after that duration or a little
// later; up to Config.WriteTimeout later if a client doesn't read. If ctx ends first, Shutdown ends
// the remaining watches at once, waits for those over HTTP/1.1, whose clients have a second to read
// the write under way, and returns the cause. Watches over HTTP/2, and watches still being sent the
// objects, end when their clients have read the write under way, or by Close of the http.Server.
//
// Shutdown may be called again. Call it before the Shutdown of the http.Server, which doesn't end
// watches, and waits for those over HTTP/2.
func (h *Handler) Shutdown(ctx context.Context, over time.Duration) error {
	began, open := time.Now(), h.watches.close(false)
	rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i, w := range open {
		timer.Reset(time.Until(began.Add(over * time.Duration(i) / time.Duration(len(open)))))
		select {
		case <-timer.C:
			w.Finish()
		case <-ctx.Done():
			return h.abort(ctx)
		}
	}
	select {
	case <-h.watches.drained:
		return nil
	case <-ctx.Done():
		return h.abort(ctx)
	}
}

// abort ends all watches at once, and returns the cause of ctx's end.
func (h *Handler) abort(ctx context.Context) error {
	open := h.watches.close(true)
	for _, w := range open {
		w.abort()
	}
	for _, w := range open {
		w.wait()
	}
	return context.Cause(ctx)
}
