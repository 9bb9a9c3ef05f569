// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

type watchTracker struct {
	mu   sync.Mutex
	open map[*trackedWatch]struct{} // mu guards it
}

type trackedWatch struct {
	end   context.CancelFunc
	ended chan struct{}
}

func (t *watchTracker) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isWatch(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		watch := &trackedWatch{end: cancel, ended: make(chan struct{})}
		defer close(watch.ended)
		t.mu.Lock()
		if t.open == nil {
			t.open = map[*trackedWatch]struct{}{}
		}
		t.open[watch] = struct{}{}
		t.mu.Unlock()
		defer func() {
			t.mu.Lock()
			delete(t.open, watch)
			t.mu.Unlock()
		}()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

var requests = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func isWatch(r *http.Request) bool {
	info, err := requests.NewRequestInfo(r)
	return err == nil && info.Verb == "watch"
}

func (t *watchTracker) end(ctx context.Context) (int, error) {
	t.mu.Lock()
	watches := make([]*trackedWatch, 0, len(t.open))
	for w := range t.open {
		watches = append(watches, w)
	}
	t.mu.Unlock()
	for _, w := range watches {
		w.end()
	}
	for _, w := range watches {
		select {
		case <-w.ended:
		case <-ctx.Done():
			return len(watches), context.Cause(ctx)
		}
	}
	return len(watches), nil
}
