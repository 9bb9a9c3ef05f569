// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/server/serve"
)

// TestMissingBodiesTimeOut shows that connections end if a client announces a body and doesn't send
// all of it, whatever the handler does.
func TestMissingBodiesTimeOut(t *testing.T) {
	unread := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for name, test := range map[string]struct {
		request string
		handler http.Handler
		within  time.Duration
		answer  string
	}{
		"a GET":          {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", unread, 2 * time.Second, "HTTP/1.1 400 "},
		"a GET, chunked": {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", unread, 2 * time.Second, "HTTP/1.1 400 "},
		"a POST":         {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf", unread, time.Minute, "HTTP/1.1 401 "},
		"a POST whose body is read": {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if _, err := io.ReadAll(req.Body); err != nil {
				w.WriteHeader(http.StatusRequestTimeout)
			}
		}), time.Minute, "HTTP/1.1 408 "},
		"no header": {"GET / HTTP/1.1\r\n", unread, 10 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := dialServer(t, test.handler)
				began := time.Now()
				if _, err := io.WriteString(conn, test.request); err != nil {
					t.Fatal(err)
				}
				answer, err := io.ReadAll(conn) // until the server closes the connection
				if took := time.Since(began); err != nil || took > test.within+time.Second || !strings.HasPrefix(string(answer), test.answer) {
					t.Errorf("got %q, %v after %v; want %q within %v", answer, err, took, test.answer, test.within)
				}
			})
		})
	}
}

// TestMissingBodiesTimeOutOverHTTP2 shows that only the stream ends, not the connection.
func TestMissingBodiesTimeOutOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes, protocols := informertest.NewPipes(), &http.Protocols{}
		protocols.SetUnencryptedHTTP2(true)
		newServer(t, pipes, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if _, err := io.ReadAll(req.Body); err != nil {
				w.WriteHeader(http.StatusRequestTimeout)
			}
		}), protocols)
		transport := &http.Transport{DialContext: pipes.Dial, Protocols: protocols}
		defer transport.CloseIdleConnections()
		for method, want := range map[string]int{http.MethodPost: http.StatusRequestTimeout, http.MethodGet: http.StatusBadRequest} {
			began := time.Now()
			never, writer := io.Pipe()
			req, err := http.NewRequestWithContext(t.Context(), method, "http://api/", never)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			writer.Close()
			if took := time.Since(began); resp.StatusCode != want || took > time.Minute {
				t.Errorf("%s: got %s after %v, want %d within a minute", method, resp.Status, took, want)
			}
		}
	})
}

// TestRequestsWithoutBodyDoNotTimeOut shows that the limits for bodies end neither watches nor
// requests that follow a body.
func TestRequestsWithoutBodyDoNotTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := dialServer(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPost {
				return
			}
			select {
			case <-time.After(time.Hour):
			case <-req.Context().Done():
				t.Error("the GET has ended")
			}
		}))
		began := time.Now()
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answers, err := io.ReadAll(conn)
		if took := time.Since(began); err != nil || took < time.Hour || strings.Count(string(answers), " 200 OK") != 2 {
			t.Errorf("got %q, %v after %v; want two answers after 1h", answers, err, took)
		}
	})
}

// dialServer returns an in-memory connection to a server made by NewServer.
func dialServer(t *testing.T, handler http.Handler) net.Conn {
	t.Helper()
	pipes := informertest.NewPipes()
	newServer(t, pipes, handler, nil)
	conn, err := pipes.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// newServer serves with NewServer until the test ends.
func newServer(t *testing.T, listener net.Listener, handler http.Handler, protocols *http.Protocols) {
	t.Helper()
	server := serve.NewServer(handler)
	server.Protocols = protocols
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // returns when the server is closed
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
	})
}
