// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// newBubbleRig returns a storage, and a handler over a cache of it. run runs the cache until the
// test ends. There is no network, so it works in a bubble.
func newBubbleRig(t *testing.T, changes ...func(*serve.Config)) (_ *memory.Storage, _ *serve.Handler, run func()) {
	t.Helper()
	return newBubbleRigOf(t, watchcache.Config{}, changes...)
}

func newBubbleRigOf(t *testing.T, cacheConfig watchcache.Config, changes ...func(*serve.Config)) (_ *memory.Storage, _ *serve.Handler, run func()) {
	t.Helper()
	storage := memory.New()
	cacheConfig.Storage = storage
	cache, err := watchcache.New(cacheConfig)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	config := serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, Cache: cache, Writer: storage.WithTTL(time.Hour),
	}}}
	for _, change := range changes {
		change(&config)
	}
	handler, err := serve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return storage, handler, func() {
		running.Go(func() { _ = cache.Run(t.Context()) }) // the cause of the context
		synctest.Wait()
	}
}

// createWidget stores a widget in namespace a. more has further fields, beginning with a comma.
func createWidget(t *testing.T, storage *memory.Storage, name, more string) {
	t.Helper()
	if _, err := storage.Create(t.Context(), []byte(widgetJSON(name, `,"namespace":"a"`, more))); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// forEachProtocol runs a test for each protocol of clients, in a bubble.
func forEachProtocol(t *testing.T, test func(t *testing.T, setProtocols func(*http.Protocols))) {
	for name, setProtocols := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, setProtocols) })
		})
	}
}

// request returns the complete answer to a request.
func request(t *testing.T, handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return answer
}

// TestFreshnessHeaders checks Watch-Cache-Version and Age.
func TestFreshnessHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, handler, run := newBubbleRig(t)
		const version = "Watch-Cache-Version"
		if got := request(t, handler, http.MethodGet, widgets, ""); got.Code != http.StatusTooManyRequests || got.Header().Get(version) != "" {
			t.Errorf("before the cache is filled: got %d %v, want 429 without a version", got.Code, got.Header())
		}
		run()
		createWidget(t, storage, "one", "")
		expect := func(path, wantVersion, wantAge string) {
			t.Helper()
			if got := request(t, handler, http.MethodGet, path, "").Header(); got.Get(version) != wantVersion || got.Get("Age") != wantAge {
				t.Errorf("%s: got version %q, age %q; want %s, %s", path, got.Get(version), got.Get("Age"), wantVersion, wantAge)
			}
		}
		expect(widgets, "2", "0")
		time.Sleep(90*time.Second + 900*time.Millisecond)
		for _, path := range []string{widgets, widgetsInA + "?limit=1", widgetsInA + "/one", widgetsInA + "/none"} {
			expect(path, "2", "90")
		}
		storage.Bookmark()
		synctest.Wait()
		expect(widgets+"?watch=true&timeoutSeconds=1", "3", "0")
	})
}

// TestWatchTimeoutsAreSpread shows that watches without a timeout end at different times, so
// their clients don't come back all at once.
func TestWatchTimeoutsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, handler, run := newBubbleRig(t)
		run()
		const shortest = 30 * time.Minute // by default
		began := time.Now()
		var watches sync.WaitGroup
		lasted := make([]time.Duration, 20)
		for i := range lasted {
			watches.Go(func() {
				request(t, handler, http.MethodGet, widgets+"?watch=true", "")
				lasted[i] = time.Since(began)
			})
		}
		watches.Wait()
		first, last := slices.Min(lasted), slices.Max(lasted)
		if first < shortest || last > 2*shortest || last-first < shortest/6 {
			t.Errorf("the watches lasted %v, want durations spread over 30m to 1h", lasted)
		}
	})
}

// TestMaximumDurations shows that the largest durations, of the server or a client, neither end
// watches nor cause reviews all the time.
func TestMaximumDurations(t *testing.T) {
	for _, query := range []string{"?watch=true", "?watch=true&timeoutSeconds=9223372036", "?watch=true&timeoutSeconds=9223372036854775807"} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			_, handler, run := newBubbleRig(t, func(c *serve.Config) {
				c.WatchTimeout, c.ReviewInterval = math.MaxInt64, math.MaxInt64
				c.Authorize = func(context.Context, serve.Attributes) error { asked++; return nil }
			})
			run()
			time.Sleep(time.Minute)
			client := connect(t, handler, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
			for range 20 { // timeouts are random
				resp, err := client.Get("http://api" + widgets + query)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, _ = resp.Body.Read(make([]byte, 1)) // returns at the body's end
				}()
				select {
				case <-ended:
					t.Errorf("%s: the watch has ended", query)
				case <-time.After(time.Hour):
				}
			}
			if asked != 20 {
				t.Errorf("%s: Authorize was called %d times, want 20", query, asked)
			}
		})
	}
}

// connect returns a client of a handler, over connections in memory.
func connect(t *testing.T, handler http.Handler, setProtocols func(*http.Protocols)) *http.Client {
	t.Helper()
	return connectTLS(t, handler, setProtocols, nil)
}

// connectTLS is connect over TLS, if certificates is not nil.
func connectTLS(t *testing.T, handler http.Handler, setProtocols func(*http.Protocols), certificates []tls.Certificate) *http.Client {
	t.Helper()
	pipes, protocols := informertest.NewPipes(), &http.Protocols{}
	setProtocols(protocols)
	server := &http.Server{Handler: handler, Protocols: protocols}
	transport := &http.Transport{DialContext: pipes.Dial, Protocols: protocols, DisableCompression: true}
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	var listener net.Listener = pipes
	if certificates != nil {
		listener = tls.NewListener(pipes, &tls.Config{Certificates: certificates})
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // returns when the server is closed
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		serving.Wait()
	})
	return &http.Client{Transport: transport}
}

// TestQuietWatchLastsOverHTTP2 shows that WriteTimeout limits writes, not the time between them.
func TestQuietWatchLastsOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, handler, run := newBubbleRig(t)
		run()
		client := connect(t, handler, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
		resp, err := client.Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(20 * time.Minute) // a write has two minutes
		createWidget(t, storage, "one", "")
		lines := bufio.NewScanner(resp.Body)
		if !lines.Scan() || resp.ProtoMajor != 2 {
			t.Errorf("%s: got %q, %v; want an event over HTTP/2", resp.Proto, lines.Text(), lines.Err())
		}
	})
}
