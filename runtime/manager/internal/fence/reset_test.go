// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// socketServer is a server that notes how its connections end.
type socketServer struct {
	*httptest.Server
	resets atomic.Int64
	conns  sync.Map // remote addresses
}

func newSocketServer(t *testing.T, handler http.HandlerFunc) *socketServer {
	s := &socketServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.conns.Store(req.RemoteAddr, true)
		handler(w, req)
	}))
	s.Listener = &watchedListener{s.Listener, &s.resets}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *socketServer) connections() (n int) {
	s.conns.Range(func(any, any) bool { n++; return true })
	return n
}

// awaitResets waits until n connections have been reset.
func (s *socketServer) awaitResets(t *testing.T, n int64) {
	t.Helper()
	for begin := time.Now(); s.resets.Load() != n; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("%d connections were reset, want %d", s.resets.Load(), n)
		}
	}
}

type watchedListener struct {
	net.Listener
	resets *atomic.Int64
}

func (l *watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: conn, resets: l.resets}, nil
}

type watchedConn struct {
	net.Conn
	resets *atomic.Int64
	once   sync.Once
}

func (c *watchedConn) note(err error) {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) { // read, write
		c.once.Do(func() { c.resets.Add(1) })
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.note(err)
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.note(err)
	return n, err
}

// socketClient returns a fenced client over sockets.
func (d *doors) socketClient(s *socketServer, protocol string) *http.Client {
	d.t.Helper()
	client, err := rest.HTTPClientFor(d.Wrap(&rest.Config{
		Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true, NextProtos: []string{protocol}},
	}))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(client.CloseIdleConnections)
	return client
}

func withProtocols(t *testing.T, test func(t *testing.T, protocol string)) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) { test(t, protocol) })
	}
}

// endless is a body that never ends, and counts how often it was read.
type endless struct{ reads atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.reads.Add(1)
	return len(p), nil
}

// TestShutResetsStuckRequest: the server reads nothing of the body until the bucket is shut, so
// bytes wait in the transport, in the kernel and in a Write.
func TestShutResetsStuckRequest(t *testing.T) {
	withProtocols(t, func(t *testing.T, protocol string) {
		began, shut, received := make(chan struct{}), make(chan struct{}), make(chan int64, 1)
		server := newSocketServer(t, func(_ http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet {
				return
			}
			close(began)
			<-shut
			n, _ := io.Copy(io.Discard, req.Body)
			received <- n
		})
		d := newDoors(t)
		d.Open(1, 5)
		d.Open(2, 5)
		client := d.socketClient(server, protocol)
		body, result := &endless{}, make(chan error, 1)
		go func() {
			_, err := d.do(client, server.URL, 1, 5, body)
			result <- err
		}()
		<-began
		for last := int64(-1); body.reads.Load() != last; time.Sleep(50 * time.Millisecond) {
			last = body.reads.Load() // until it is stuck
		}
		idle := d.Shut(1, errShut)
		reads := body.reads.Load()
		close(shut)
		<-idle
		if err := <-result; !errors.Is(err, errShut) {
			t.Errorf("the request returns %v, want that the bucket is shut", err)
		}
		server.awaitResets(t, 1)
		<-received
		if n := body.reads.Load(); n > reads+1 { // one may have been about to begin
			t.Errorf("the body was read %d times after the bucket was shut", n-reads)
		}
		get(t, d, client, server.URL, 2) // by a new connection
		if n := server.connections(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

// get sends requests of a bucket at epoch 5 until one succeeds. The transport may not know yet that
// its connection was reset.
func get(t *testing.T, d *doors, client *http.Client, url string, bucket int) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		resp, err := d.do(client, url, bucket, 5, nil)
		if err == nil {
			_ = resp.Body.Close()
			return
		}
		if errors.Is(err, errClosed) || time.Since(begin) > 10*time.Second {
			t.Fatal(err)
		}
	}
}

// TestShutSparesOtherBuckets: with HTTP/1.1, requests of other buckets go on. With HTTP/2 those on
// the connection that is reset fail, but not as if their bucket was shut.
func TestShutSparesOtherBuckets(t *testing.T) {
	withProtocols(t, func(t *testing.T, protocol string) {
		arrived, answer := make(chan struct{}, 2), make(chan struct{})
		server := newSocketServer(t, func(_ http.ResponseWriter, req *http.Request) {
			arrived <- struct{}{}
			select {
			case <-answer:
			case <-req.Context().Done():
			}
		})
		d := newDoors(t)
		client := d.socketClient(server, protocol)
		results := [3]chan error{1: make(chan error, 1), 2: make(chan error, 1)}
		for bucket := 1; bucket <= 2; bucket++ {
			d.Open(bucket, 5)
			go func() {
				resp, err := d.do(client, server.URL, bucket, 5, nil)
				if err == nil {
					err = resp.Body.Close()
				}
				results[bucket] <- err
			}()
			<-arrived
		}
		<-d.Shut(1, errShut)
		if err := <-results[1]; !errors.Is(err, errShut) {
			t.Errorf("the request returns %v, want that the bucket is shut", err)
		}
		server.awaitResets(t, 1)
		if protocol == "h2" {
			if err := <-results[2]; err == nil || errors.Is(err, errClosed) {
				t.Errorf("the other bucket's request returns %v, want another error", err)
			}
			close(answer)
		} else {
			close(answer)
			if err := <-results[2]; err != nil {
				t.Errorf("the other bucket's request returns %v", err)
			}
		}
		get(t, d, client, server.URL, 2)
	})
}

// TestShutEndsResponses: the server has all of the requests, so no connection is reset, and with
// HTTP/2 the other bucket's response goes on.
func TestShutEndsResponses(t *testing.T) {
	withProtocols(t, func(t *testing.T, protocol string) {
		ended, event := make(chan struct{}, 2), make(chan struct{}, 1)
		server := newSocketServer(t, func(w http.ResponseWriter, req *http.Request) {
			for {
				if _, err := w.Write([]byte("x")); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-event:
				case <-req.Context().Done():
					ended <- struct{}{}
					return
				}
			}
		})
		d := newDoors(t)
		client := d.socketClient(server, protocol)
		var bodies [3]io.ReadCloser
		for bucket := 1; bucket <= 2; bucket++ {
			d.Open(bucket, 5)
			resp, err := d.do(client, server.URL, bucket, 5, nil)
			if err != nil {
				t.Fatal(err)
			}
			bodies[bucket] = resp.Body
			if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		<-d.Shut(1, errShut)
		if _, err := bodies[1].Read(make([]byte, 1)); !errors.Is(err, errShut) {
			t.Errorf("the response ends with %v, want that the bucket is shut", err)
		}
		<-ended
		_ = bodies[1].Close()
		event <- struct{}{}
		if _, err := bodies[2].Read(make([]byte, 1)); err != nil {
			t.Errorf("the other bucket's response ends with %v", err)
		}
		_ = bodies[2].Close()
		<-ended
		if n := server.resets.Load(); protocol == "h2" && n != 0 { // else a close may look like one
			t.Errorf("%d connections were reset, want none", n)
		}
	})
}

// TestShutAfterResponse: another bucket's request uses the connection, since the response has been
// read, but not closed.
func TestShutAfterResponse(t *testing.T) {
	withProtocols(t, func(t *testing.T, protocol string) {
		arrived, answer := make(chan struct{}), make(chan struct{})
		server := newSocketServer(t, func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet {
				close(arrived)
				<-answer
			}
			_, _ = w.Write([]byte("response"))
		})
		d := newDoors(t)
		d.Open(1, 5)
		d.Open(2, 5)
		client := d.socketClient(server, protocol)
		first, err := d.do(client, server.URL, 1, 5, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer first.Body.Close()
		if _, err := io.ReadAll(first.Body); err != nil {
			t.Fatal(err)
		}
		result := make(chan error, 1)
		go func() {
			resp, err := d.do(client, server.URL, 2, 5, nil)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			result <- err
		}()
		<-arrived
		<-d.Shut(1, errShut)
		close(answer)
		if err := <-result; err != nil {
			t.Errorf("the other bucket's request returns %v", err)
		}
		if n := server.connections(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
	})
}

// TestShutWhileConnecting: a transport gets its connection after the bucket was shut, and sends by
// it in spite of the context.
func TestShutWhileConnecting(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	connecting, connect := make(chan struct{}), make(chan struct{})
	d := newDoors(t)
	d.Open(1, 5)
	client := d.client(func(req *http.Request) (*http.Response, error) {
		close(connecting)
		<-connect
		httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: tls.Client(near, nil)})
		_, err := near.Write([]byte("POST"))
		return nil, err
	})
	result := make(chan error, 1)
	go func() {
		_, err := d.do(client, inMemory, 1, 5, nil)
		result <- err
	}()
	<-connecting
	idle := d.Shut(1, errShut)
	close(connect)
	if err := <-result; !errors.Is(err, errShut) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the request returns %v, want that the bucket is shut, and that the connection is closed", err)
	}
	<-idle
}
