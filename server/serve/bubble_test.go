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

// newBubbleRig returns a storage, and a handler of a cache of it. run fills the cache, and keeps it
// up to date until the test ends. There is no network, so it can be in a bubble.
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
		running.Go(func() { _ = cache.Run(t.Context()) }) // its error is why the context has ended
		synctest.Wait()
	}
}

// put stores a widget in namespace a. more is further fields, which begin with a comma.
func put(t *testing.T, storage *memory.Storage, name, more string) {
	t.Helper()
	if _, err := storage.Create(t.Context(), []byte(written(name, `,"namespace":"a"`, more))); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// overEach calls a test in a bubble for each protocol over which clients connect.
func overEach(t *testing.T, test func(t *testing.T, over func(*http.Protocols))) {
	for name, over := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, over) })
		})
	}
}

// ask returns the answer to a request, when it has ended.
func ask(t *testing.T, handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return answer
}

// TestAnswersTellHowFreshTheyAre looks at the header of answers: at which version the cache was,
// and how long ago its storage was heard of.
func TestAnswersTellHowFreshTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, handler, run := newBubbleRig(t)
		const version = "Watch-Cache-Version"
		if got := ask(t, handler, http.MethodGet, widgets, ""); got.Code != http.StatusTooManyRequests || got.Header().Get(version) != "" {
			t.Errorf("before the cache is filled: %d %v", got.Code, got.Header())
		}
		run()
		put(t, storage, "one", "")
		expect := func(path, wantVersion, wantAge string) {
			t.Helper()
			if got := ask(t, handler, http.MethodGet, path, "").Header(); got.Get(version) != wantVersion || got.Get("Age") != wantAge {
				t.Errorf("%s: version %q, age %q; want %s and %s", path, got.Get(version), got.Get("Age"), wantVersion, wantAge)
			}
		}
		expect(widgets, "2", "0")
		time.Sleep(90*time.Second + 900*time.Millisecond)
		for _, path := range []string{widgets, inA + "?limit=1", inA + "/one", inA + "/none"} {
			expect(path, "2", "90")
		}
		storage.Bookmark()
		synctest.Wait()
		expect(widgets+"?watch=true&timeoutSeconds=1", "3", "0")
	})
}

// TestWatchesEndAtDifferentTimes: their clients don't come back all at once.
func TestWatchesEndAtDifferentTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, handler, run := newBubbleRig(t)
		run()
		const shortest = 30 * time.Minute // by default
		began := time.Now()
		var watches sync.WaitGroup
		lasted := make([]time.Duration, 20)
		for i := range lasted {
			watches.Go(func() {
				ask(t, handler, http.MethodGet, widgets+"?watch=true", "")
				lasted[i] = time.Since(began)
			})
		}
		watches.Wait()
		first, last := slices.Min(lasted), slices.Max(lasted)
		if first < shortest || last > 2*shortest || last-first < shortest/6 {
			t.Errorf("they lasted %v", lasted)
		}
	})
}

// TestEndlessTimes: a watch that is to last as long as a number can tell lasts, whoever says so,
// and is not reviewed all the time.
func TestEndlessTimes(t *testing.T) {
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
			for range 20 { // times are random
				resp, err := client.Get("http://api" + widgets + query)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, _ = resp.Body.Read(make([]byte, 1)) // it ends with the body
				}()
				select {
				case <-ended:
					t.Errorf("%s: it has ended", query)
				case <-time.After(time.Hour):
				}
			}
			if asked != 20 {
				t.Errorf("%s: %d requests were authorized", query, asked)
			}
		})
	}
}

// connect returns a client of a handler, by connections in memory. over may set a protocol.
func connect(t *testing.T, handler http.Handler, over func(*http.Protocols)) *http.Client {
	t.Helper()
	return connectTLS(t, handler, over, nil)
}

// connectTLS is connect, encrypted if there are certificates.
func connectTLS(t *testing.T, handler http.Handler, over func(*http.Protocols), certificates []tls.Certificate) *http.Client {
	t.Helper()
	at, protocols := informertest.NewPipes(), &http.Protocols{}
	over(protocols)
	server := &http.Server{Handler: handler, Protocols: protocols}
	transport := &http.Transport{DialContext: at.Dial, Protocols: protocols, DisableCompression: true}
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	var listener net.Listener = at
	if certificates != nil {
		listener = tls.NewListener(at, &tls.Config{Certificates: certificates})
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it is closed
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		serving.Wait()
	})
	return &http.Client{Transport: transport}
}

// TestQuietWatchLastsOverHTTP2: the time to write is that of writes, not the time between them.
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
		time.Sleep(20 * time.Minute) // the quiet; a write has two minutes
		put(t, storage, "one", "")
		lines := bufio.NewScanner(resp.Body)
		if !lines.Scan() || resp.ProtoMajor != 2 {
			t.Errorf("%s: got %q, %v", resp.Proto, lines.Text(), lines.Err())
		}
	})
}
