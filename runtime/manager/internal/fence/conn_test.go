// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// stop puts a term in the state after a stop of the process: its time is over, and the timer has
// not fired yet.
func (t *Term) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	t.window.Until = time.Now()
}

// TestNothingIsSentAfterStop: the process is stopped while it encodes the headers of a request.
func TestNothingIsSentAfterStop(t *testing.T) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			var arrived atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			f, term := opened(t)
			client, err := rest.HTTPClientFor(f.Wrap(&rest.Config{
				Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true, NextProtos: []string{protocol}},
			}))
			if err != nil {
				t.Fatal(err)
			}
			get := func(trace *httptrace.ClientTrace) error {
				req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, server.URL, nil)
				if err != nil {
					return err
				}
				resp, err := client.Do(req)
				if err == nil {
					err = resp.Body.Close()
				}
				return err
			}
			if err := get(&httptrace.ClientTrace{}); err != nil {
				t.Fatal(err)
			}
			err = get(&httptrace.ClientTrace{WroteHeaderField: func(string, []string) { term.stop() }})
			if !errors.Is(err, errClosed) {
				t.Errorf("the second request returns %v, want errClosed", err)
			}
			server.Close() // waits for pending requests
			if n := arrived.Load(); n != 1 {
				t.Errorf("%d requests have arrived, want 1", n)
			}
		})
	}
}

var (
	errClosed  = errors.New("no term")
	errExpired = fmt.Errorf("%w: it is over", errClosed)
	errEnded   = fmt.Errorf("%w: the test has ended", errClosed)
)

// opened returns a fence with a term that lasts until the end of the test.
func opened(t testing.TB) (*Fence, *Term) {
	t.Helper()
	f := New(errClosed, errExpired)
	return f, begun(t, f)
}

// begun begins a term that lasts until the end of the test.
func begun(t testing.TB, f *Fence) *Term {
	term := f.Begin(context.Background())
	term.Extend(time.Now(), time.Hour)
	t.Cleanup(func() { term.Close(errEnded) })
	return term
}

// TestBlockedWriteSendsNothingAfterStop: the peer reads nothing until the process is stopped.
func TestBlockedWriteSendsNothingAfterStop(t *testing.T) {
	f, term := opened(t)
	c, peer := connected(t, f)
	big := make([]byte, 16<<20) // more than the buffers hold
	result := make(chan error)
	go func() {
		_, err := c.Write(big)
		result <- err
	}()
	buf := make([]byte, 1<<20)
	if _, err := peer.Read(buf); err != nil { // so that the write has begun
		t.Fatal(err)
	}
	term.stop()
	received := make(chan int64)
	go func() {
		n, _ := io.Copy(io.Discard, peer) // until the connection is reset
		received <- n
	}()
	if err := <-result; !errors.Is(err, errClosed) {
		t.Errorf("Write() = %v, want errClosed", err)
	}
	_ = c.Close()
	if n := <-received; n >= int64(len(big)-len(buf)) {
		t.Errorf("the peer received %d bytes, want fewer than %d", n, len(big)-len(buf))
	}
}

// TestEndOfTermDropsUnsentBytes: the kernel has unsent bytes, since the peer does not read.
func TestEndOfTermDropsUnsentBytes(t *testing.T) {
	f, term := opened(t)
	c, peer := connected(t, f)
	sent := 0
	// The kernel takes nothing more when ten writes in a row have timed out. One may do so because
	// this process did not run.
	for timeouts, chunk := 0, make([]byte, 64<<10); timeouts < 10; timeouts++ {
		_ = c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		n, _ := c.Write(chunk)
		if sent += n; n > 0 {
			timeouts = -1
		}
	}
	term.Close(errEnded)
	_, _ = c.Read(make([]byte, 1)) // returns when the connection is closed
	received, err := io.Copy(io.Discard, peer)
	if !errors.Is(err, syscall.ECONNRESET) || received >= int64(sent) {
		t.Errorf("received %d of %d bytes, then %v; want fewer, and a reset", received, sent, err)
	}
}

// TestFencedClientsShareNoConnection: neither with each other nor with other clients of an equal
// config.
func TestFencedClientsShareNoConnection(t *testing.T) {
	var conns sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { conns.Store(req.RemoteAddr, true) }))
	defer server.Close()
	f, _ := opened(t)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{NextProtos: []string{"http/1.1"}}}
	for range 3 {
		for _, config := range []*rest.Config{config, f.Wrap(config)} {
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			defer client.CloseIdleConnections()
		}
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n != 4 {
		t.Errorf("%d connections, want 4: one of the other clients, and one of each fenced client", n)
	}
}

// TestTermEndsDuringSuspend: the monotonic clock stands still during a suspend, the wall clock does
// not.
func TestTermEndsDuringSuspend(t *testing.T) {
	f, term := opened(t)
	c, _ := connected(t, f)
	term.mu.Lock()
	term.wall = time.Now()
	term.mu.Unlock()
	if _, err := c.Write([]byte("x")); !errors.Is(err, errClosed) {
		t.Errorf("Write() = %v, want errClosed", err)
	}
	term.Extend(time.Now(), time.Hour)
	if _, err := f.Current(); err == nil || term.ctx.Err() == nil {
		t.Error("a later renewal resumes the term")
	}
}

// TestCloseKeepsExpiry shows that requests after the end of a lease say so, also if the process was
// stopped meanwhile and closes the term before its timer fires.
func TestCloseKeepsExpiry(t *testing.T) {
	f := New(errClosed, errExpired)
	term := f.Begin(context.Background())
	term.Extend(time.Now(), time.Hour)
	f.JumpWallClock(2 * time.Hour)
	term.Close(errEnded)
	if err := term.Err(); !errors.Is(err, errExpired) {
		t.Errorf("got %v, want %v", err, errExpired)
	}
}

// TestConnectionBelongsToOneTerm: it sends nothing in the next one.
func TestConnectionBelongsToOneTerm(t *testing.T) {
	f, term := opened(t)
	c, _ := connected(t, f)
	term.stop()
	begun(t, f)
	if _, err := c.Write([]byte("x")); !errors.Is(err, errClosed) {
		t.Errorf("Write() in the next term = %v, want errClosed", err)
	}
}

// connected returns both ends of a connection of the fence.
func connected(t *testing.T, f *Fence) (c, peer net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if c, err = f.dial(nil)(t.Context(), "tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if peer, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Close(), peer.Close() })
	return c, peer
}
