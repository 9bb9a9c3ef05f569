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

// patience is how long the tests wait for what should come soon.
const patience = 3 * time.Minute

// tuning shortens the informer's waits, since the tests run in real time. Only where silence is the
// fault, it is noticed soon: elsewhere it means that the machine is busy.
func tuning(hangs bool) informer.Option {
	t := reflector.Tuning{Backoff: reflector.Backoff{Initial: 5 * time.Millisecond, Max: 20 * time.Millisecond}}
	if hangs {
		t.SilenceTimeout, t.InitialEventsTimeout = 300*time.Millisecond, 300*time.Millisecond
	}
	return informer.WithTuning(t)
}

// sockets is a world with a loopback connection in it.
type sockets struct {
	*world
	http     *httptest.Server
	listener *listener
}

// listener breaks connections.
type listener struct {
	net.Listener
	spoil atomic.Int32 // so many connections
	with  func(net.Conn)
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.spoil.Add(-1) < 0 {
			return conn, err
		}
		l.with(conn)
		_ = conn.Close()
	}
}

var overSockets = flag.Bool("sockets", false, "repeat the faults of the network with real connections")

// TestRealConnectionsThatFail repeats the faults of the network with real connections, real
// transports and real time.
func TestRealConnectionsThatFail(t *testing.T) {
	if !*overSockets {
		t.Skip("without -sockets: ports and real time depend on what else runs; other tests have these faults in virtual time")
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
	spoil := func(times int32, with func(net.Conn)) func(*sockets) {
		return func(s *sockets) {
			s.listener.with = with
			s.listener.spoil.Store(times)
		}
	}
	for _, tc := range []struct {
		name         string
		lists        bool // no watch-lists
		alone        bool // another case could get its port
		tls, http2   bool
		first, later func(s *sockets)
		reasons      []reason.Reason // all of them have to be named
		may          []reason.Reason // these may be named too
	}{
		{name: "nothing wrong, HTTP/1.1"},
		{name: "nothing wrong, TLS", tls: true},
		{name: "nothing wrong, HTTP/2", tls: true, http2: true},
		{name: "connection refused", alone: true, first: func(s *sockets) {
			address := s.listener.Addr().String()
			_ = s.listener.Close()
			go func() {
				for range 5 {
					<-s.failures
				}
				// Another test may have got the port for a moment.
				again, err := net.Listen("tcp", address)
				for began := time.Now(); errors.Is(err, syscall.EADDRINUSE) && time.Since(began) < patience; {
					time.Sleep(10 * time.Millisecond)
					again, err = net.Listen("tcp", address)
				}
				if err != nil {
					s.t.Errorf("the port is gone: %v", err)
					return
				}
				_ = s.http.Config.Serve(again) // ends when the server is closed
			}()
		}, reasons: unreachable},
		{name: "connection closed as soon as it is made", first: spoil(3, func(net.Conn) {}), reasons: unreachable},
		{name: "connection reset as soon as it is made", first: spoil(3, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }), reasons: unreachable},
		{name: "something other than HTTP", first: spoil(3, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1)) // of the request
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
		}), reasons: unreachable},
		{name: "something other than TLS", tls: true, first: spoil(3, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n") }), reasons: unreachable},
		{name: "reset before an answer", first: answer(anyVerb, 3, sourcetest.Fail(syscall.ECONNRESET)), reasons: unreachable},
		{name: "list reset in its middle", lists: true, first: answer(sourcetest.List, 2, cut(1500, syscall.ECONNRESET)), reasons: unreachable},
		// If the reset overtakes the header, net/http sends the request again by itself.
		{name: "watch reset in its middle", later: rewatch(2, cut(500, syscall.ECONNRESET)), may: unreachable},
		{name: "watch closed in its middle, HTTP/2", tls: true, http2: true, later: rewatch(2, cut(500, io.ErrUnexpectedEOF)), reasons: unreachable},
		{name: "body shorter than its Content-Length", lists: true, first: answer(sourcetest.List, 2, func(a *sourcetest.Answer) {
			a.Header.Set("Content-Length", "1000000")
		}), reasons: unreachable},
		{name: "connections closed by the server", later: func(s *sockets) { s.http.CloseClientConnections() }, reasons: unreachable},
		{name: "connections closed by the server, HTTP/2", tls: true, http2: true, later: func(s *sockets) { s.http.CloseClientConnections() }, reasons: unreachable},
		{name: "GOAWAY", tls: true, http2: true, later: func(s *sockets) {
			// net/http's server sends GOAWAY after an answer with Connection: close.
			rewatch(3, func(a *sourcetest.Answer) { a.Header.Set("Connection", "close") })(s)
			s.churn()
			s.server.EndWatches()
		}, may: reasons(reason.ShortWatch, reason.Unreachable)},
		{name: "keep-alives off", later: rewatch(3, func(a *sourcetest.Answer) { a.Header.Set("Connection", "close") }), may: reasons(reason.ShortWatch)},
		{name: "no answer", first: answer(anyVerb, 2, sourcetest.Fail(sourcetest.ErrHang)), reasons: silent},
		{name: "half-open list", lists: true, first: answer(sourcetest.List, 1, cut(1500, sourcetest.ErrHang)), reasons: silent},
		{name: "half-open watch", later: rewatch(1, cut(500, sourcetest.ErrHang)), reasons: silent},
		{name: "half-open watch, HTTP/2", tls: true, http2: true, later: rewatch(1, cut(500, sourcetest.ErrHang)), reasons: silent},
		{name: "list that trickles", lists: true, first: answer(sourcetest.List, 1, func(a *sourcetest.Answer) { a.Chunk, a.Pause = 1, 20*time.Millisecond }), reasons: silent},
		{name: "list that is slow but comes", lists: true, first: answer(sourcetest.List, 1, func(a *sourcetest.Answer) { a.Chunk, a.Pause = 500, time.Millisecond })},
		{name: "gzip", first: answer(anyVerb, 5, func(a *sourcetest.Answer) { a.Gzip = true })},
		{name: "gzip cut off", lists: true, first: answer(sourcetest.List, 2, func(a *sourcetest.Answer) { a.Gzip, a.Cut = true, -20 }), reasons: unreachable},
		{name: "gzip that is none", lists: true, first: answer(sourcetest.List, 2, func(a *sourcetest.Answer) { a.Header.Set("Content-Encoding", "gzip") }), reasons: unreachable},
	} {
		for _, format := range formats[:2] {
			t.Run(tc.name+"/"+format.name, func(t *testing.T) {
				if !tc.alone {
					t.Parallel()
				}
				s := &sockets{world: &world{t: t, media: format.media, fault: fault{lists: tc.lists, reasons: tc.reasons}}}
				s.run(tc.tls, tc.http2, tc.first, tc.later, tc.may)
				s.checkMemory()
			})
		}
	}
}

func (s *sockets) run(withTLS, http2 bool, first, later func(*sockets), may []reason.Reason) {
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
	s.handle("first", 0)
	s.handle("slow", 100*time.Microsecond, informer.WithBacklogThreshold(3))
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
	if first != nil {
		first(s)
	}
	go func() { ended <- s.informer.Run(ctx) }()
	if later != nil {
		if err := s.informer.WaitForCacheSync(ctx); err != nil {
			s.t.Fatal(err)
		}
		s.begin()
		later(s)
	}
	for range 3 {
		s.churn()
		s.handle("late", 0)
		if err := s.informer.AwaitResourceVersion(ctx, s.server.ResourceVersion()); err != nil {
			s.t.Fatalf("%v; %v", err, s.informer.Status().Reflector)
		}
	}
	for _, h := range s.handlers {
		h.await(ctx, s.expected())
	}
	s.agreed("at the end")
	if hangs {
		may = append(may, reason.NoBookmark) // the initial events hang
	}
	s.checkReasonsAnd(may)
}
