// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/watchcache/serve"
)

// TestShutdown: watches end one after the other, with a bookmark from which their clients go on
// elsewhere. New ones are refused meanwhile.
func TestShutdown(t *testing.T) {
	const watches, over = 20, time.Second
	r := newRig(t, serve.Config{}, true)
	ends := make(chan time.Duration, watches)
	var began time.Time
	for range watches {
		resp := r.get(t, widgets+"?watch=true&allowWatchBookmarks=true&resourceVersion=1")
		go func() {
			raw, err := io.ReadAll(resp.Body)
			if err != nil || !strings.Contains(string(raw), `"BOOKMARK"`) {
				t.Errorf("got %s, %v", raw, err)
			}
			ends <- time.Since(began)
		}()
	}
	r.storage.Bookmark()
	if err := r.cache.WaitUntilFresh(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	closed := make(chan error, 1)
	go func() { closed <- r.handler.Shutdown(t.Context(), over) }()
	for {
		resp := r.get(t, widgets+"?watch=true&timeoutSeconds=1")
		if resp.StatusCode == http.StatusTooManyRequests && resp.Close {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("a new watch: got %s", resp.Status)
		}
	}
	var first, last time.Duration
	for i := range watches {
		last = <-ends
		if i == 0 {
			first = last
		}
	}
	if last-first < over/2 {
		t.Errorf("the first has ended after %v, the last after %v", first, last)
	}
	if err := <-closed; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := r.handler.Shutdown(t.Context(), over); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestShutdownThatHasNoTime(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	resp := r.get(t, widgets+"?watch=true")
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, late)
	defer cancel()
	if err := r.handler.Shutdown(ctx, time.Hour); err != late {
		t.Errorf("got %v", err)
	}
	if raw, err := io.ReadAll(resp.Body); err != nil || len(raw) > 0 {
		t.Errorf("the watch got %s, %v", raw, err)
	}
}
