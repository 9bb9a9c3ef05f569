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

// mebibyte is what a large widget has. A few of them are more than sockets buffer.
var mebibyte = `,"data":"` + strings.Repeat("x", 1<<20) + `"`

// wantCreated reads the creation of widgets, whose names are a prefix and a number, in order.
func wantCreated(t *testing.T, from *bufio.Reader, prefix string, count int) {
	t.Helper()
	for i := range count {
		line, err := from.ReadBytes('\n')
		if want := fmt.Sprintf(`"name":"%s%d"`, prefix, i); err != nil || !bytes.Contains(line, []byte(want)) {
			t.Fatalf("got %.200s, %v, want %s", line, err, want)
		}
	}
}

// TestWatchOfASlowReader: what the connection doesn't take at once comes later, in order, over HTTP
// as it is and encrypted.
func TestWatchOfASlowReader(t *testing.T) {
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
				r.create(t, "a", fmt.Sprint("large", i), mebibyte)
			}
			lines := bufio.NewReader(resp.Body)
			wantCreated(t, lines, "large", count)
			for i := range count {
				r.create(t, "a", fmt.Sprint("small", i), "")
			}
			wantCreated(t, lines, "small", count)
			if resp.ProtoMajor != 1 || !resp.Close {
				t.Errorf("it is %s, and closed afterwards: %v", resp.Proto, resp.Close)
			}
		})
	}
}

// TestWatchThatIsTooSlowLearnsOfIt: its last event is a 410, behind all that was sent to it.
func TestWatchThatIsTooSlowLearnsOfIt(t *testing.T) {
	r := newRigOf(t, watchcache.Config{Bytes: 4 << 20}, serve.Config{}, true)
	r.create(t, "a", "large", mebibyte)
	stream := bufio.NewReader(r.get(t, widgets+"?watch=true").Body)
	// what follows may end the watch before its first event is sent
	if line, err := stream.ReadBytes('\n'); err != nil {
		t.Fatalf("got %.200s, %v", line, err)
	}
	for range 32 {
		if _, err := r.storage.Update(t.Context(), []byte(written("large", `,"namespace":"a"`, mebibyte))); err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); r.cache.Status().Watchers > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("the watch is still there")
		}
	}
	raw, err := io.ReadAll(stream)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if last := lines[len(lines)-1]; err != nil || !strings.HasPrefix(last, `{"type":"ERROR"`) || !strings.Contains(last, `"code":410`) {
		t.Errorf("after %d events: %.200s, %v", len(lines), last, err)
	}
}

// TestStreamThatIsNotReadHoldsUpNoOther has two watches on one HTTP/2 connection.
func TestStreamThatIsNotReadHoldsUpNoOther(t *testing.T) {
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
	open() // and it is not read
	read := bufio.NewReader(open())
	for i := range 32 {
		r.create(t, "a", fmt.Sprint("large", i), mebibyte)
	}
	wantCreated(t, read, "large", 32)
	if remote[0] != "HTTP/2.0" || remote[1] != "HTTP/2.0" {
		t.Errorf("they are %v", remote)
	}
}

// TestWatchWithoutAConnection: a ResponseWriter that has none to take over is written to.
func TestWatchWithoutAConnection(t *testing.T) {
	t.Parallel() // watches take a second to end
	r := newRig(t, serve.Config{}, true)
	r.create(t, "a", "w0", "")
	answer := httptest.NewRecorder()
	r.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, widgets+"?watch=true&timeoutSeconds=1", nil))
	wantCreated(t, bufio.NewReader(answer.Body), "w", 1)
}

// TestWhatAClientSaysAfterItsRequestIsIgnored: nothing does, but a connection may carry anything.
func TestWhatAClientSaysAfterItsRequestIsIgnored(t *testing.T) {
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
