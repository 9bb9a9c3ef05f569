// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/test/internal/caches"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// relay is a handler of an API server's Pods, on two ports.
type relay struct {
	api          *rest.Config // of the API server, through a network
	plain, tls   *httptest.Server
	http1, http2 *network // of the clients of each port
	listeners    []*listener

	handler atomic.Pointer[serve.Handler]
	stop    context.CancelFunc // of the cache
	running sync.WaitGroup
}

// newRelay runs a relay until the test ends.
func newRelay(t *testing.T, api *rest.Config) *relay {
	t.Helper()
	r := &relay{api: api, http1: newNetwork(t), http2: newNetwork(t)}
	r.start(t)
	through := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.handler.Load().ServeHTTP(w, req) })
	r.plain, r.tls = httptest.NewUnstartedServer(through), httptest.NewUnstartedServer(through)
	for _, s := range []*httptest.Server{r.plain, r.tls} {
		l := &listener{Listener: s.Listener}
		s.Listener, r.listeners = l, append(r.listeners, l)
	}
	r.plain.Start()
	r.tls.EnableHTTP2 = true
	r.tls.StartTLS()
	t.Cleanup(func() {
		r.stop()
		r.running.Wait()
		r.http1.next.CloseIdleConnections()
		r.http2.next.CloseIdleConnections()
		r.plain.Close()
		r.tls.Close()
	})
	return r
}

// listener can close its accepted connections.
type listener struct {
	net.Listener

	mu    sync.Mutex // mu guards conns
	conns []net.Conn
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

// loseConnections closes the connections of all clients.
func (r *relay) loseConnections() {
	for _, l := range r.listeners {
		l.mu.Lock()
		for _, conn := range l.conns {
			_ = conn.Close() // it may already be closed
		}
		l.conns = nil
		l.mu.Unlock()
	}
}

// start starts an empty cache, and waits until it is filled and answers requests.
func (r *relay) start(t *testing.T) {
	t.Helper()
	storage := caches.Upstream(t, r.api, pods, upstream.Options{Kind: "Pod", Fields: []string{"spec.nodeName"}})
	cache, err := watchcache.New(watchcache.Config{Storage: storage, Retry: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	r.running.Go(func() { _ = cache.Run(ctx) }) // its error is the cause of the context
	filled, late := context.WithTimeout(t.Context(), poll.Patience)
	defer late()
	if err := cache.WaitReady(filled); err != nil {
		t.Fatalf("%v: %v", err, cache.Status().Err)
	}
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: pods, Kind: "Pod", Namespaced: true, Fields: []string{"spec.nodeName"}, Cache: cache,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r.handler.Store(handler)
}

// restart starts the relay with an empty cache, without its history.
func (r *relay) restart(t *testing.T) {
	t.Helper()
	r.stop()
	r.running.Wait()
	r.start(t)
}

// configs returns the configs of the relay's clients, by protocol.
func (r *relay) configs() map[string]*rest.Config {
	return map[string]*rest.Config{
		"HTTP/1.1": {Host: r.plain.URL, Transport: r.http1, QPS: -1},
		"HTTP/2":   {Host: r.tls.URL, Transport: r.http2, QPS: -1},
	}
}
