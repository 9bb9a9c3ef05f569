// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowClientsAreCutOff runs in a bubble, where time passes only while all goroutines wait.
func TestSlowClientsAreCutOff(t *testing.T) {
	for name, test := range map[string]struct {
		sends string
		after time.Duration
	}{
		"no request":               {"", 10 * time.Second},
		"headers that don't end":   {"GET /healthz HTTP/1.1\r\nHost: x\r\n", 10 * time.Second},
		"headers of 100 KB":        {"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", time.Second},
		"a body that doesn't come": {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", 30 * time.Second},
		"a body, below /debug":     {"GET /debug/fast HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", 30 * time.Second},
		"no second request":        {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := serving(t)
				go func() { _, _ = io.WriteString(client, test.sends) }()
				start := time.Now()
				_, _ = io.Copy(io.Discard, client) // ends when the server closes the connection
				if took := time.Since(start); took > test.after+time.Second {
					t.Errorf("the connection was open for %v, want %v", took, test.after)
				}
			})
		})
	}
}

// TestSlowReadersAreCutOff: except below /debug, where profiles may take long.
func TestSlowReadersAreCutOff(t *testing.T) {
	for path, want := range map[string]time.Duration{"/big": 30 * time.Second, "/debug/big": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			client := serving(t)
			go func() { _, _ = io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n") }()
			synctest.Wait()
			time.Sleep(want - time.Second)
			resp, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatalf("GET %s: %v before the deadline", path, err)
			}
			if path == "/big" {
				time.Sleep(2 * time.Second)
			}
			n, _ := io.Copy(io.Discard, resp.Body)
			if complete := n == 1<<20; complete != (path != "/big") {
				t.Errorf("GET %s: read %d of %d bytes", path, n, 1<<20)
			}
			_ = client.Close()
		})
	}
}

// TestProfileAfterProbe: the probe's deadline does not apply to a profile on the same connection.
func TestProfileAfterProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serving(t)
		read := bufio.NewReader(client)
		for _, path := range []string{"/healthz", "/debug/big"} {
			go func() { _, _ = io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n") }()
			resp, err := http.ReadResponse(read, nil)
			if err != nil {
				t.Fatalf("GET %s: %v", path, err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Errorf("GET %s: %v", path, err)
			}
			time.Sleep(time.Minute)
		}
	})
}

// serving returns the client's end of a connection to a manager's server.
func serving(t *testing.T) net.Conn {
	t.Helper()
	mux := http.NewServeMux()
	fast := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }
	big := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }
	mux.HandleFunc("/healthz", fast)
	mux.HandleFunc("/debug/fast", fast)
	mux.HandleFunc("/big", big)
	mux.HandleFunc("/debug/big", big)
	return connect(t, newServer(mux))()
}

// connect starts a server, and returns a function that returns the client's end of a connection.
func connect(t *testing.T, server *http.Server) func() net.Conn {
	pipe := pipeListener{make(chan net.Conn, 1), make(chan struct{})}
	served := make(chan error)
	go func() { served <- serveOn(pipe, server) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return func() net.Conn {
		client, conn := net.Pipe()
		pipe.conns <- conn
		return client
	}
}

// pipeListener is a net.Listener without a socket.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error   { close(l.closed); return nil }
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
