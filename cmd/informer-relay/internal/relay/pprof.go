// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/access"
)

// ServeProfiles serves net/http/pprof at l until stop is called, which closes l. Profiles show the
// contents of memory, so l must be a loopback listener, and requests must pass [access.LocalOnly].
func ServeProfiles(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return serveInBackground(l, &http.Server{Handler: access.LocalOnly(mux), ReadHeaderTimeout: 10 * time.Second})
}

// serveInBackground serves at l until stop is called, which closes l and cuts off requests under
// way.
func serveInBackground(l net.Listener, server *http.Server) (stop func()) {
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	return func() {
		_ = server.Close() // its connections are cut off in any case
		<-served
	}
}
