// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/watchcache/serve"
)

// TestShutdown: watches end one after the other, with a bookmark from which their clients go on
// elsewhere. New ones are refused meanwhile.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const over = time.Minute
		storage, handler, run := newBubbleRig(t)
		run()
		client := connect(t, handler, func(p *http.Protocols) { p.SetHTTP1(true) })
		get := func(query string) *http.Response {
			t.Helper()
			resp, err := client.Get("http://api" + widgets + "?watch=true" + query)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { resp.Body.Close() })
			return resp
		}
		lasted := make([]time.Duration, 20)
		var watches, closing sync.WaitGroup
		var began time.Time
		for i := range lasted {
			resp := get("&allowWatchBookmarks=true&resourceVersion=1")
			watches.Go(func() {
				raw, err := io.ReadAll(resp.Body)
				if err != nil || !strings.Contains(string(raw), `"BOOKMARK"`) {
					t.Errorf("got %s, %v", raw, err)
				}
				lasted[i] = time.Since(began)
			})
		}
		storage.Bookmark()
		synctest.Wait()
		began = time.Now()
		closing.Go(func() {
			if err := handler.Shutdown(t.Context(), over); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		})
		synctest.Wait()
		if resp := get("&timeoutSeconds=1"); resp.StatusCode != http.StatusTooManyRequests || !resp.Close {
			t.Errorf("a new watch gets %s, closed afterwards: %v", resp.Status, resp.Close)
		}
		watches.Wait()
		closing.Wait()
		slices.Sort(lasted)
		for i := range lasted[1:] {
			if apart := lasted[i+1] - lasted[i]; apart < over/40 || apart > over/10 {
				t.Errorf("the watches ended after %v", lasted)
				break
			}
		}
		if err := handler.Shutdown(t.Context(), over); err != nil {
			t.Errorf("again: %v", err)
		}
	})
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
