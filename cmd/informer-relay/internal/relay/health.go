// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/server/serve"
)

const (
	// probeTimeout bounds a probe at the listener for probes.
	probeTimeout = 5 * time.Second
	// maxProbes and maxProbesPerAddress bound the connections there.
	maxProbes, maxProbesPerAddress = 256, 16
)

// ServeProbes answers probes at l, in plain HTTP, until stop is called, which closes l. The relay's
// own listener turns probes away when its connections are at their limit.
func (r *Relay) ServeProbes(l net.Listener) (stop func()) {
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if !r.serveProbe(w, req) {
				http.NotFound(w, req)
			}
		}),
		ReadTimeout: probeTimeout, WriteTimeout: probeTimeout, MaxHeaderBytes: 4 << 10,
	}
	server.SetKeepAlivesEnabled(false)
	return serveInBackground(serve.Limit(l, maxProbes, maxProbesPerAddress), server)
}

func (r *Relay) serveProbe(w http.ResponseWriter, req *http.Request) bool {
	switch req.URL.Path {
	case "/healthz", "/livez":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // an error means the client has gone
	case "/readyz":
		r.serveReady(w, req)
	default:
		return false
	}
	return true
}

// serveReady answers with 200 if the relay should get clients, and 503 if not. The body has a line
// for each cache.
func (r *Relay) serveReady(w http.ResponseWriter, _ *http.Request) {
	ready, why := r.ready(time.Now())
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(why)) // an error means the client has gone
}

// ready reports whether the relay should get clients, and why, in lines. It answers everyone, so it
// names resources and namespaces but quotes no errors.
func (r *Relay) ready(now time.Time) (ready bool, why string) {
	if r.draining.Load() {
		return false, "not ready: the relay is shutting down\n"
	}
	serving := r.serving.Load()
	if serving == nil {
		return false, "not ready: waiting for the API server to describe the resources\n"
	}
	ready = true
	var lines strings.Builder
	for _, c := range serving.caches {
		ok, state := stateOf(c.Status(), now, r.config.StaleAfter)
		ready = ready && ok
		fmt.Fprintf(&lines, "%s: %s\n", c.name, state)
	}
	if !ready {
		return false, "not ready\n" + lines.String()
	}
	return true, "ready\n" + lines.String()
}

// stateOf reports whether a cache is fit for clients, and describes it.
func stateOf(s metrics.CacheState, now time.Time, staleAfter time.Duration) (ok bool, state string) {
	switch silent := now.Sub(s.LastEvent); {
	case !s.Ready && s.Err != nil:
		return false, "not synced: the API server can't be read; the log has the reason"
	case !s.Ready:
		return false, "not synced"
	case silent > staleAfter:
		return false, fmt.Sprintf("stale: no event or bookmark for %v; reads go on at version %d", silent.Round(time.Second), s.Version)
	default:
		return true, fmt.Sprintf("synced: %d objects at version %d; last event %v ago", s.Objects, s.Version, silent.Round(time.Second))
	}
}
