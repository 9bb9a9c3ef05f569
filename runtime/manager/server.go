// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// newServer returns a server with time limits, so idle clients can't keep connections. ReadTimeout
// and WriteTimeout would cut profiles short, so its handler sets deadlines.
func newServer(h http.Handler) *http.Server {
	const requestTimeout = 30 * time.Second // for the body of a request, and its response
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			deadline, conn := time.Now().Add(requestTimeout), http.NewResponseController(w)
			if req.Body != http.NoBody {
				_ = conn.SetReadDeadline(deadline) // net/http's connections have deadlines
			}
			if strings.HasPrefix(req.URL.Path, "/debug/") {
				deadline = time.Time{} // a profile takes the requested time
			}
			_ = conn.SetWriteDeadline(deadline)
			h.ServeHTTP(w, req)
		}),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
}

func (m *Manager) serve() (stop func() error, err error) {
	if m.options.Address == "" {
		return func() error { return nil }, nil
	}
	fail := func(err error) error { return fmt.Errorf("serve at Options.Address: %w", err) }
	server := newServer(m.handler)
	if m.options.CertFile != "" {
		if server.TLSConfig, err = tlsConfig(m.options.CertFile, m.options.KeyFile); err != nil {
			return nil, fail(err)
		}
	}
	listener, err := net.Listen("tcp", m.options.Address)
	if err != nil {
		return nil, fail(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := serveOn(listener, server); !errors.Is(err, http.ErrServerClosed) {
			m.fail(fail(err))
		}
	}()
	return func() error {
		err := server.Shutdown(m.deadline())
		if err != nil { // a long profile must not delay the end of the process
			err = server.Close()
		}
		<-ended
		return err
	}, nil
}

// serveOn serves HTTPS if the server has a TLS configuration, else HTTP.
func serveOn(l net.Listener, server *http.Server) error {
	if server.TLSConfig == nil {
		return server.Serve(l)
	}
	server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){} // no HTTP/2
	return server.ServeTLS(l, "", "")
}
