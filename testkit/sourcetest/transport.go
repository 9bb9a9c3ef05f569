// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
)

// RoundTrip implements http.RoundTripper. The response's body reads directly from the server's
// memory.
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if err := context.Cause(req.Context()); err != nil {
		return nil, err // like net/http's transport
	}
	a, body := s.answer(req)
	if err := body.begin(); err != nil {
		return nil, err
	}
	resp := &http.Response{
		StatusCode: a.code, Status: strconv.Itoa(a.code) + " " + http.StatusText(a.code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        a.Header,
		ContentLength: -1,
		Request:       req,
		Body:          body,
	}
	return resp, nil
}

// ServeHTTP implements http.Handler. A fault that makes the connection fail resets it.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a, body := s.answer(req)
	defer body.Close()
	if err := body.begin(); err != nil {
		abort(w, err)
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	out := http.NewResponseController(w)
	_ = out.Flush()
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			_ = out.Flush()
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			abort(w, err)
		}
	}
}

// abort ends a connection early: with a reset if the fault asks for one, otherwise by closing it.
func abort(w http.ResponseWriter, err error) {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

var (
	_ http.RoundTripper = (*Server)(nil)
	_ http.Handler      = (*Server)(nil)
)
