// SPDX-License-Identifier: Apache-2.0

package manager

import (
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
	listener, err := net.Listen("tcp", m.options.Address)
	if err != nil {
		return nil, fmt.Errorf("serve at Options.Address: %w", err)
	}
	server := newServer(m.handler)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			m.fail(fmt.Errorf("serve at Options.Address: %w", err))
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
