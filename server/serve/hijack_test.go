// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// oneMiB is the data of a large widget. A few of them exceed the buffers of sockets.
var oneMiB = `,"data":"` + strings.Repeat("x", 1<<20) + `"`

// wantCreated expects events about widgets named prefix0, prefix1 and so on, in order.
func wantCreated(t *testing.T, from *bufio.Reader, prefix string, count int) {
	t.Helper()
	for i := range count {
		line, err := from.ReadBytes('\n')
		if want := fmt.Sprintf(`"name":"%s%d"`, prefix, i); err != nil || !bytes.Contains(line, []byte(want)) {
			t.Fatalf("event %d is %.200s, %v; want %s", i, line, err, want)
		}
	}
}

// TestWatchOfSlowReader shows that events beyond the connection's buffers arrive later, in order,
// over HTTP and HTTPS.
func TestWatchOfSlowReader(t *testing.T) {
	const count = 24
	for name, encrypted := range map[string]bool{"http": false, "https": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, serve.Config{}, true)
			server := httptest.NewUnstartedServer(r.handler)
			if encrypted {
				server.StartTLS()
			} else {
				server.Start()
			}
			t.Cleanup(server.Close)
			resp, err := server.Client().Get(server.URL + widgets + "?watch=true")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for i := range count {
				r.create(t, "a", fmt.Sprint("large", i), oneMiB)
			}
			lines := bufio.NewReader(resp.Body)
			wantCreated(t, lines, "large", count)
			for i := range count {
				r.create(t, "a", fmt.Sprint("small", i), "")
			}
			wantCreated(t, lines, "small", count)
			if resp.ProtoMajor != 1 || !resp.Close {
				t.Errorf("the watch used %s, Connection: close %v; want HTTP/1.1, true", resp.Proto, resp.Close)
			}
		})
	}
}

// TestSlowWatchEndsWithExpired shows that the last event of a slow watch is an ERROR with 410.
func TestSlowWatchEndsWithExpired(t *testing.T) {
	r := newRigOf(t, watchcache.Config{Bytes: 4 << 20}, serve.Config{}, true)
	r.create(t, "a", "large", oneMiB)
	stream := bufio.NewReader(r.get(t, widgets+"?watch=true").Body)
	// the updates below may end the watch before its first event is sent
	if line, err := stream.ReadBytes('\n'); err != nil {
		t.Fatalf("the first event is %.200s, %v", line, err)
	}
	for range 32 {
		if _, err := r.storage.Update(t.Context(), []byte(widgetJSON("large", `,"namespace":"a"`, oneMiB))); err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); r.cache.Status().Watchers > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("the slow watch is still open")
		}
	}
	raw, err := io.ReadAll(stream)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if last := lines[len(lines)-1]; err != nil || !strings.HasPrefix(last, `{"type":"ERROR"`) || !strings.Contains(last, `"code":410`) {
		t.Errorf("after %d events, the watch ended with %.200s, %v; want an ERROR event with code 410", len(lines), last, err)
	}
}

// TestUnreadStreamDoesNotBlockOthers opens two watches on one HTTP/2 connection, and reads one.
func TestUnreadStreamDoesNotBlockOthers(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	server := httptest.NewUnstartedServer(r.handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	var remote []string
	open := func() io.Reader {
		resp, err := server.Client().Get(server.URL + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		remote = append(remote, resp.Proto)
		return resp.Body
	}
	open() // is not read
	read := bufio.NewReader(open())
	for i := range 32 {
		r.create(t, "a", fmt.Sprint("large", i), oneMiB)
	}
	wantCreated(t, read, "large", 32)
	if remote[0] != "HTTP/2.0" || remote[1] != "HTTP/2.0" {
		t.Errorf("the watches used %v, want HTTP/2.0", remote)
	}
}

// TestWatchWithoutHijacker watches over a ResponseWriter that isn't a Hijacker.
func TestWatchWithoutHijacker(t *testing.T) {
	t.Parallel() // watches take a second to end
	r := newRig(t, serve.Config{}, true)
	r.create(t, "a", "w0", "")
	answer := httptest.NewRecorder()
	r.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, widgets+"?watch=true&timeoutSeconds=1", nil))
	wantCreated(t, bufio.NewReader(answer.Body), "w", 1)
}

// TestDataAfterWatchRequestIsIgnored sends more data on the connection of a watch.
func TestDataAfterWatchRequestIsIgnored(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	conn := dial(t, r.server.Listener.Addr())
	fmt.Fprintf(conn, "GET %s?watch=true HTTP/1.1\r\nHost: x\r\n\r\n", widgets)
	lines := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n%s", strings.Repeat("x", 1<<16))
	r.create(t, "a", "w0", "")
	if _, err := lines.ReadString('\n'); err != nil { // the size of the chunk
		t.Fatal(err)
	}
	wantCreated(t, lines, "w", 1)
}
