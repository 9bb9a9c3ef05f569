// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/server/serve"
)

func TestTooManyWatchesAreRefused(t *testing.T) {
	r := newRig(t, serve.Config{MaxWatches: 2}, true)
	first := r.get(t, widgets+"?watch=true")
	r.get(t, widgets+"?watch=true&resourceVersion=1")
	refused := r.get(t, widgets+"?watch=true")
	if got := describe(t, refused); got != `429 TooManyRequests "too many watches are open; try again later"` || refused.Header.Get("Retry-After") != "1" {
		t.Errorf("the third watch: got %s, %v; want 429", got, refused.Header)
	}
	if resp := r.get(t, widgets); resp.StatusCode != http.StatusOK {
		t.Errorf("a list: got %s, want 200", resp.Status)
	}
	first.Body.Close()
	began := time.Now()
	for r.get(t, widgets+"?watch=true&timeoutSeconds=1").StatusCode != http.StatusOK {
		if time.Since(began) > patience {
			t.Fatal("a watch is refused although another one has ended")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestTooManyJoinsAreRefused shows that an unread list counts for MaxJoins.
func TestTooManyJoinsAreRefused(t *testing.T) {
	r := newRig(t, serve.Config{MaxJoins: 1}, true)
	for i := range 32 { // more than sockets buffer
		r.create(t, "a", fmt.Sprint("large", i), `,"data":"`+strings.Repeat("x", 1<<20)+`"`)
	}
	slow := r.get(t, widgets)
	for _, query := range []string{"", "?watch=true"} {
		if resp := r.get(t, widgets+query); resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "1" {
			t.Errorf("%q: got %s, want 429", query, resp.Status)
		}
	}
	if resp := r.get(t, widgets+"?watch=true&resourceVersion=1"); resp.StatusCode != http.StatusOK {
		t.Errorf("a watch without initial events: got %s, want 200", resp.Status)
	}
	if _, err := io.Copy(io.Discard, slow.Body); err != nil {
		t.Fatal(err)
	}
	if resp := r.get(t, widgets); resp.StatusCode != http.StatusOK {
		t.Errorf("a list after the first one was read: got %s, want 200", resp.Status)
	}
}

// TestWaitingRequestsAreNotJoins shows that requests waiting for a future version don't count
// for MaxJoins.
func TestWaitingRequestsAreNotJoins(t *testing.T) {
	for name, query := range map[string]string{
		"list":       "?resourceVersion=2",
		"exact list": "?resourceVersion=2&resourceVersionMatch=Exact",
		"watch-list": watchList + "&resourceVersion=2&timeoutSeconds=1",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage, handler, run := newBubbleRig(t, func(c *serve.Config) { c.MaxJoins = 1 })
				run()
				var waiting sync.WaitGroup
				waiting.Go(func() {
					if got := request(t, handler, http.MethodGet, widgets+query, ""); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "one") {
						t.Errorf("the waiting request got %d %s, want 200 with the object", got.Code, got.Body)
					}
				})
				synctest.Wait()
				if got := request(t, handler, http.MethodGet, widgets, ""); got.Code != http.StatusOK {
					t.Errorf("a list meanwhile got %d %s, want 200", got.Code, got.Body)
				}
				createWidget(t, storage, "one", "")
				waiting.Wait()
			})
		})
	}
}

// serveLimited serves the rig's handler with NewServer and a limited listener.
func (r *rig) serveLimited(t *testing.T, total, perIP int, change func(*http.Server)) net.Addr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := serve.NewServer(r.server.Config.Handler)
	change(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serve.Limit(listener, total, perIP)) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return listener.Addr()
}

// TestSilentConnectionsAreLimited opens many connections that send nothing. Those within the limit
// stay until the timeout; the others are closed at once. An earlier client keeps its watch, and new
// clients can connect afterwards.
func TestSilentConnectionsAreLimited(t *testing.T) {
	const silent, most = 10_000, 500
	r := newRig(t, serve.Config{}, true)
	addr := r.serveLimited(t, most, 0, func(s *http.Server) { s.ReadHeaderTimeout = 2 * time.Second })
	resp, err := r.client.Get("http://" + addr.String() + widgets + "?watch=true&resourceVersion=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	before := heap()
	var kept []net.Conn
	defer func() {
		for _, conn := range kept {
			conn.Close()
		}
	}()
	for range silent {
		conn, err := net.Dial("tcp", addr.String())
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) < 2*most { // the test keeps these open
			kept = append(kept, conn)
		} else {
			conn.Close()
		}
	}
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("%d connections take %d MiB, want at most 32", silent, grown>>20)
	}
	r.create(t, "a", "one", "")
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"type":"ADDED"`) {
		t.Errorf("the watch got %q, %v; want an ADDED event", line, err)
	}
	for _, conn := range kept { // the server closes all of them
		conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, net.ErrClosed) || isTimeout(err) {
			t.Fatalf("a silent connection is still open: %v", err)
		}
	}
	again, err := r.client.Get("http://" + addr.String() + widgets)
	if err != nil {
		t.Fatal(err)
	}
	again.Body.Close()
}

// dial returns a connection, which is closed at the end of the test.
func dial(t *testing.T, addr net.Addr) net.Conn {
	t.Helper()
	conn, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// heap returns the memory in use, including stacks.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func TestConnectionsOfOneAddressAreLimited(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	addr := r.serveLimited(t, 0, 1, func(*http.Server) {})
	first, second := dial(t, addr), dial(t, addr)
	second.SetReadDeadline(time.Now().Add(patience))
	if _, err := second.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the second connection: got %v, want it closed", err)
	}
	first.Close()
	began := time.Now()
	for { // until the server has seen the end of the first one
		resp, err := r.client.Get("http://" + addr.String() + widgets)
		if err == nil {
			resp.Body.Close()
			break
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	addr := r.serveLimited(t, 0, 0, func(*http.Server) {})
	req, err := http.NewRequest(http.MethodGet, "http://"+addr.String()+widgets, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X", strings.Repeat("x", 100<<10))
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %s, want 431", resp.Status)
	}
}
