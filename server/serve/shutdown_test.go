// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestShutdown shows that watches end one by one, each with a bookmark from which its client can
// continue elsewhere. New watches are refused meanwhile.
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
					t.Errorf("a watch ended with %s, %v; want a bookmark", raw, err)
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
			t.Errorf("a new watch got %s, Connection: close %v; want 429, true", resp.Status, resp.Close)
		}
		watches.Wait()
		closing.Wait()
		slices.Sort(lasted)
		for i := range lasted[1:] {
			if apart := lasted[i+1] - lasted[i]; apart < over/40 || apart > over/10 {
				t.Errorf("the watches ended after %v, want them spread evenly over %v", lasted, over)
				break
			}
		}
		if err := handler.Shutdown(t.Context(), over); err != nil {
			t.Errorf("the second Shutdown: %v", err)
		}
	})
}

func TestShutdownWithEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, handler, run := newBubbleRig(t)
		run()
		resp, err := connect(t, handler, func(p *http.Protocols) { p.SetHTTP1(true) }).Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var watching sync.WaitGroup
		defer watching.Wait()
		watching.Go(func() {
			if raw, err := io.ReadAll(resp.Body); err != nil || len(raw) > 0 {
				t.Errorf("the watch ended with %s, %v; want an empty answer", raw, err)
			}
		})
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, late)
		defer cancel()
		if err := handler.Shutdown(ctx, time.Hour); err != late {
			t.Errorf("Shutdown() = %v, want %v", err, late)
		}
	})
}

// TestAbortedShutdownLeavesNoGoroutine shows that an aborted Shutdown also ends the goroutines
// of watches whose clients don't read: after a second, long before WriteTimeout.
func TestAbortedShutdownLeavesNoGoroutine(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	server.Close()
	for scheme, certificates := range map[string][]tls.Certificate{"http": nil, "https": server.TLS.Certificates} {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage, handler, run := newBubbleRig(t)
				run()
				client := connectTLS(t, handler, func(p *http.Protocols) { p.SetHTTP1(true) }, certificates)
				for range 3 {
					resp, err := client.Get(scheme + "://api" + widgets + "?watch=true")
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
				}
				createWidget(t, storage, "one", oneMiB)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				if err := handler.Shutdown(ctx, 0); err != context.DeadlineExceeded || time.Since(began) > time.Minute+time.Second {
					t.Errorf("Shutdown returned %v after %v, want %v within a second of the deadline", err, time.Since(began), context.DeadlineExceeded)
				}
				returned := time.Now()
				if err := handler.Shutdown(t.Context(), 0); err != nil || time.Since(returned) != 0 {
					t.Errorf("the second Shutdown returned %v after %v, want nil at once", err, time.Since(returned))
				}
			})
		})
	}
}
