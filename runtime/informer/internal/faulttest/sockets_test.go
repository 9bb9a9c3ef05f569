// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// patience is the timeout of waits that should end soon.
const patience = 3 * time.Minute

// tuning shortens the informer's waits, since the tests run in real time. Timeouts for silence are
// short only where silence is the fault; elsewhere silence means a busy machine.
func tuning(hangs bool) informer.Option {
	t := reflector.Tuning{Backoff: reflector.Backoff{Initial: 5 * time.Millisecond, Max: 20 * time.Millisecond}}
	if hangs {
		t.SilenceTimeout, t.InitialEventsTimeout = 300*time.Millisecond, 300*time.Millisecond
	}
	return informer.WithTuning(t)
}

// sockets is a rig with loopback connections.
type sockets struct {
	*rig
	http     *httptest.Server
	listener *listener
}

// listener is a net.Listener that breaks its first connections.
type listener struct {
	net.Listener
	remaining atomic.Int32 // connections to break
	breakConn func(net.Conn)
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.remaining.Add(-1) < 0 {
			return conn, err
		}
		l.breakConn(conn)
		_ = conn.Close()
	}
}

var overSockets = flag.Bool("sockets", false, "repeat the network faults with real connections")

// TestRealConnectionsThatFail repeats the network faults with real connections, real transports and
// real time.
func TestRealConnectionsThatFail(t *testing.T) {
	if !*overSockets {
		t.Skip("needs -sockets: ports and real time depend on other programs; other tests have these faults in virtual time")
	}
	unreachable := reasons(reason.Unreachable)
	silent := reasons(reason.Silent)
	answer := func(on sourcetest.Verb, times int, do func(*sourcetest.Answer)) func(*sockets) {
		return func(s *sockets) { s.inject(on, times, do) }
	}
	rewatch := func(times int, do func(*sourcetest.Answer)) func(*sockets) {
		return func(s *sockets) {
			s.inject(sourcetest.Watch, times, do)
			s.server.EndWatches()
		}
	}
	cut := func(after int, err error) func(*sourcetest.Answer) {
		return func(a *sourcetest.Answer) { a.Cut, a.CutErr = after, err }
	}
	breakConns := func(times int32, breakConn func(net.Conn)) func(*sockets) {
		return func(s *sockets) {
			s.listener.breakConn = breakConn
			s.listener.remaining.Store(times)
		}
	}
	for _, tc := range []struct {
		name                      string
		listOnly                  bool // no watch-lists
		alone                     bool // not parallel: another case could get its port
		tls, http2                bool
		duringSync, whileWatching func(s *sockets)
		reasons                   []reason.Reason // reasons that the status must have
		allowed                   []reason.Reason // reasons that the status may have too
	}{
		{name: "nothing wrong, HTTP/1.1"},
		{name: "nothing wrong, TLS", tls: true},
		{name: "nothing wrong, HTTP/2", tls: true, http2: true},
		{name: "connection refused", alone: true, duringSync: func(s *sockets) {
			address := s.listener.Addr().String()
			_ = s.listener.Close()
			go func() {
				for range 5 {
					<-s.failures
				}
				// Another test may hold the port for a moment.
				again, err := net.Listen("tcp", address)
				for began := time.Now(); errors.Is(err, syscall.EADDRINUSE) && time.Since(began) < patience; {
					time.Sleep(10 * time.Millisecond)
					again, err = net.Listen("tcp", address)
				}
				if err != nil {
					s.t.Errorf("listening on the port again: %v", err)
					return
				}
				_ = s.http.Config.Serve(again) // ends when the server is closed
			}()
		}, reasons: unreachable},
		{name: "connection closed as soon as it is made", duringSync: breakConns(3, func(net.Conn) {}), reasons: unreachable},
		{name: "connection reset as soon as it is made", duringSync: breakConns(3, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }), reasons: unreachable},
		{name: "something other than HTTP", duringSync: breakConns(3, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1)) // of the request
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
		}), reasons: unreachable},
		{name: "something other than TLS", tls: true, duringSync: breakConns(3, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n") }), reasons: unreachable},
		{name: "reset before an answer", duringSync: answer(anyVerb, 3, sourcetest.Fail(syscall.ECONNRESET)), reasons: unreachable},
		{name: "list reset in its middle", listOnly: true, duringSync: answer(sourcetest.List, 2, cut(1500, syscall.ECONNRESET)), reasons: unreachable},
		// If the reset overtakes the header, net/http sends the request again by itself.
		{name: "watch reset in its middle", whileWatching: rewatch(2, cut(500, syscall.ECONNRESET)), allowed: unreachable},
		{name: "watch closed in its middle, HTTP/2", tls: true, http2: true, whileWatching: rewatch(2, cut(500, io.ErrUnexpectedEOF)), reasons: unreachable},
		{name: "body shorter than its Content-Length", listOnly: true, duringSync: answer(sourcetest.List, 2, func(a *sourcetest.Answer) {
			a.Header.Set("Content-Length", "1000000")
		}), reasons: unreachable},
		{name: "connections closed by the server", whileWatching: func(s *sockets) { s.http.CloseClientConnections() }, reasons: unreachable},
		{name: "connections closed by the server, HTTP/2", tls: true, http2: true, whileWatching: func(s *sockets) { s.http.CloseClientConnections() }, reasons: unreachable},
		{name: "GOAWAY", tls: true, http2: true, whileWatching: func(s *sockets) {
			// net/http's server sends GOAWAY after an answer with Connection: close.
			rewatch(3, func(a *sourcetest.Answer) { a.Header.Set("Connection", "close") })(s)
			s.churn()
			s.server.EndWatches()
		}, allowed: reasons(reason.ShortWatch, reason.Unreachable)},
		{name: "keep-alives off", whileWatching: rewatch(3, func(a *sourcetest.Answer) { a.Header.Set("Connection", "close") }), allowed: reasons(reason.ShortWatch)},
		{name: "no answer", duringSync: answer(anyVerb, 2, sourcetest.Fail(sourcetest.ErrHang)), reasons: silent},
		{name: "half-open list", listOnly: true, duringSync: answer(sourcetest.List, 1, cut(1500, sourcetest.ErrHang)), reasons: silent},
		{name: "half-open watch", whileWatching: rewatch(1, cut(500, sourcetest.ErrHang)), reasons: silent},
		{name: "half-open watch, HTTP/2", tls: true, http2: true, whileWatching: rewatch(1, cut(500, sourcetest.ErrHang)), reasons: silent},
		{name: "list that trickles", listOnly: true, duringSync: answer(sourcetest.List, 1, func(a *sourcetest.Answer) { a.Chunk, a.Pause = 1, 20*time.Millisecond }), reasons: silent},
		{name: "slow list", listOnly: true, duringSync: answer(sourcetest.List, 1, func(a *sourcetest.Answer) { a.Chunk, a.Pause = 500, time.Millisecond })},
		{name: "gzip", duringSync: answer(anyVerb, 5, func(a *sourcetest.Answer) { a.Gzip = true })},
		{name: "gzip cut off", listOnly: true, duringSync: answer(sourcetest.List, 2, func(a *sourcetest.Answer) { a.Gzip, a.Cut = true, -20 }), reasons: unreachable},
		{name: "Content-Encoding gzip of plain text", listOnly: true, duringSync: answer(sourcetest.List, 2, func(a *sourcetest.Answer) { a.Header.Set("Content-Encoding", "gzip") }), reasons: unreachable},
	} {
		for _, format := range formats[:2] {
			t.Run(tc.name+"/"+format.name, func(t *testing.T) {
				if !tc.alone {
					t.Parallel()
				}
				s := &sockets{rig: &rig{t: t, media: format.media, fault: fault{listOnly: tc.listOnly, reasons: tc.reasons}}}
				s.run(tc.tls, tc.http2, tc.duringSync, tc.whileWatching, tc.allowed)
				s.checkMemory()
			})
		}
	}
}

func (s *sockets) run(withTLS, http2 bool, duringSync, whileWatching func(*sockets), allowed []reason.Reason) {
	s.newServer()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.listener = &listener{Listener: tcp}
	s.http = &httptest.Server{Listener: s.listener, EnableHTTP2: http2, Config: &http.Server{Handler: s.server, ErrorLog: log.New(io.Discard, "", 0)}}
	transport := &http.Transport{ForceAttemptHTTP2: http2, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	scheme := "http://"
	if withTLS {
		scheme = "https://"
	}
	hangs := slices.Contains(s.reasons, reason.Silent)
	s.newInformer(&rest.Config{Host: scheme + tcp.Addr().String(), Transport: transport}, tuning(hangs))
	s.addHandler("first", 0)
	s.addHandler("slow", 100*time.Microsecond, informer.WithBacklogThreshold(3))
	if withTLS {
		s.http.StartTLS()
	} else {
		s.http.Start()
	}
	defer func() {
		transport.CloseIdleConnections()
		s.http.CloseClientConnections()
		s.http.Close()
		_ = s.http.Config.Close()
	}()

	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	ended := make(chan error, 1)
	defer func() {
		cancel()
		<-ended
	}()
	s.begin()
	if duringSync != nil {
		duringSync(s)
	}
	go func() { ended <- s.informer.Run(ctx) }()
	if whileWatching != nil {
		if err := s.informer.WaitForCacheSync(ctx); err != nil {
			s.t.Fatal(err)
		}
		s.begin()
		whileWatching(s)
	}
	for range 3 {
		s.churn()
		s.addHandler("late", 0)
		if err := s.informer.AwaitResourceVersion(ctx, s.server.ResourceVersion()); err != nil {
			s.t.Fatalf("AwaitResourceVersion() = %v; status %v", err, s.informer.Status().Reflector)
		}
	}
	for _, h := range s.handlers {
		h.await(ctx, s.expected())
	}
	s.checkState("at the end")
	if hangs {
		allowed = append(allowed, reason.NoBookmark) // the initial events hang
	}
	s.checkReasonsAnd(allowed)
}
