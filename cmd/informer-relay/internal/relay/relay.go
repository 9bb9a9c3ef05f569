// SPDX-License-Identifier: Apache-2.0

// Package relay serves resources of an API server to any number of clients, from one watch of each.
//
//	API server ┄▶ upstream ─▶ watchcache ─▶ serve ─▶ access ┄▶ clients
//
// A [Relay] looks the resources up at the API server, fills a cache for each, and serves them. It
// ends in the order in which clients lose least:
//
//  1. /readyz fails; all else goes on for the configured delay, while load balancers take note.
//  2. Watches end one by one, over the configured period, and their clients go on at another
//     replica from the version they have.
//  3. The listener closes, the last requests are answered, and the caches stop.
//
// # Goroutines
//
//	goroutine                          started by   ends when
//	Serve                              the caller   its context ends, and the shutdown is over
//	each cache's Run, start, server    Serve        Serve returns
package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/access"
	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/serve"
)

// LastRequests bounds the time from the end of the watches to the end of the relay.
const LastRequests = 10 * time.Second

// Relay is a relay in front of one API server. [New] makes one.
type Relay struct {
	// set once at construction
	config        *configfile.Config
	access        *access.Access
	tls           *tlsFiles // nil: plain HTTP
	client        *source.Client
	discovery     *discovery
	proxy         http.Handler // forwards requests to the API server
	metrics       *prometheus.Provider
	callerHandler http.Handler // requests of callers

	started  chan struct{}           // closed when the resources are known
	serving  atomic.Pointer[serving] // nil until then
	draining atomic.Bool
}

// New returns a relay that does nothing until [Relay.Serve]. It fails if upstream can't be used or
// the TLS files can't be read.
func New(c *configfile.Config, upstream *rest.Config) (r *Relay, err error) {
	r = &Relay{config: c, started: make(chan struct{})}
	if r.access, err = access.New(c.Access, upstream); err != nil {
		return nil, err
	}
	served := map[schema.GroupVersionResource]bool{}
	for _, resource := range c.Resources {
		served[resource.GVR()] = true
	}
	requests := newRequests(served)
	if r.metrics, err = newExporter(r.access, requests); err != nil {
		return nil, err
	}
	if r.tls, err = newTLSFiles(c.Listen); err != nil {
		return nil, err
	}
	if r.client, err = source.NewClient(upstream); err != nil {
		return nil, err
	}
	if r.discovery, err = newDiscovery(upstream); err != nil {
		return nil, err
	}
	if r.proxy, err = newProxy(upstream); err != nil {
		return nil, err
	}
	r.callerHandler = requests.observe(r.access.Handler(http.HandlerFunc(r.serveCaller)))
	return r, nil
}

// Serve serves at l until ctx ends, and then shuts down. It returns nil after a shutdown in time,
// and an error if it could not serve, or had to cut off requests. It closes l. It may be called
// once.
func (r *Relay) Serve(ctx context.Context, l net.Listener) error {
	cacheCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	startCtx, fail := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	defer fail(nil)

	l = serve.Limit(l, r.config.Limits.Connections, r.config.Limits.ConnectionsPerAddress)
	server := serve.NewServer(r)
	running.Go(func() { fail(r.accept(server, l)) })
	running.Go(func() {
		s, err := r.start(startCtx)
		if err != nil {
			fail(err)
			return
		}
		for _, c := range s.caches {
			running.Go(func() { _ = c.Run(cacheCtx) }) // the cause of cacheCtx
		}
		r.serving.Store(s)
		close(r.started)
	})
	klog.FromContext(ctx).Info("The relay serves", "address", l.Addr().String(), "tls", r.tls != nil)

	<-startCtx.Done()
	if ctx.Err() == nil {
		ended, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancel()
		_ = r.endRequests(ended, server) // cutting off the rest, as expected
		return fmt.Errorf("serving at %s: %w", l.Addr(), context.Cause(startCtx))
	}
	return r.shutdown(context.WithoutCancel(ctx), server)
}

// WaitReady waits until the caches are filled. It returns the cause if ctx ends first, and the
// reason if a cache ends.
func (r *Relay) WaitReady(ctx context.Context) error {
	select {
	case <-r.started:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, c := range r.serving.Load().caches {
		if err := c.WaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *Relay) accept(server *http.Server, l net.Listener) error {
	if r.tls == nil {
		return server.Serve(l)
	}
	server.TLSConfig = r.tls.config()
	return server.ServeTLS(l, "", "")
}

// shutdown ends the relay in the order of the package documentation.
func (r *Relay) shutdown(ctx context.Context, server *http.Server) error {
	delay, period := r.config.Shutdown.Delay, r.config.Shutdown.Period
	klog.FromContext(ctx).Info("The relay shuts down", "delay", delay, "period", period)
	r.draining.Store(true)
	time.Sleep(delay)
	ctx, cancel := context.WithTimeout(ctx, period+LastRequests)
	defer cancel()
	if err := r.endRequests(ctx, server); err != nil {
		return fmt.Errorf("shutting down: clients were disconnected %v after shutdown.period: %w", LastRequests, err)
	}
	return nil
}

// endRequests ends watches and then all else. When ctx ends, it cuts off the rest.
func (r *Relay) endRequests(ctx context.Context, server *http.Server) (err error) {
	if s := r.serving.Load(); s != nil {
		err = s.handler.Shutdown(ctx, r.config.Shutdown.Period)
	}
	if err = errors.Join(err, server.Shutdown(ctx)); err != nil {
		_ = server.Close()
	}
	return err
}

// ServeHTTP answers probes, and requests for metrics and resources.
func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !r.serveProbe(w, req) {
		r.callerHandler.ServeHTTP(w, req)
	}
}

// serveCaller answers a request whose context has the caller's credentials.
func (r *Relay) serveCaller(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path == access.MetricsPath {
		if err := r.access.Authorize(req.Context(), serve.Attributes{Verb: "get", Path: req.URL.Path}); err != nil {
			access.Refuse(w, err)
			return
		}
		r.metrics.ServeHTTP(w, req)
		return
	}
	s := r.serving.Load()
	if s == nil {
		access.Refuse(w, apierrors.NewTooManyRequests("the relay is starting", 1))
		return
	}
	s.handler.ServeHTTP(w, req)
}
