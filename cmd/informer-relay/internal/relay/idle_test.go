// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"crypto/tls"
	"flag"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var idleWatches = flag.Int("idle", 100, "number of watches in TestIdleWatches")

// idleWatch is the path of a watch with nothing to read.
const idleWatch = "/api/v1/pods?watch=true&resourceVersion=0"

// TestIdleWatches opens watches with nothing to read, over TLS. Their memory must be bounded, and
// free again when their clients have gone. The log has the time of another caller's list. The
// clients are in this process, so their memory counts too.
func TestIdleWatches(t *testing.T) {
	for _, tc := range []struct {
		protocol string
		open     func(t *testing.T, url string) (end func())
		most     float64 // maximum memory of a watch, in bytes
	}{
		{"HTTP/1.1", idleHTTP1, 48 << 10}, // TLS has buffers on both ends
		{"HTTP/2", idleHTTP2, 40 << 10},
	} {
		t.Run(tc.protocol, func(t *testing.T) {
			s := newAPIServer(t, "ann watch pods in", "ann list pods in")
			s.pods.Create(pod("shop", "web"))
			r, a := startTLS(t, s)
			caller := &http.Client{Transport: &http.Transport{TLSClientConfig: a.clientConfig(t, "", ""), ForceAttemptHTTP2: true}, Timeout: patience}
			defer caller.CloseIdleConnections()
			before := medianList(t, caller, r.url)
			memory, goroutines := memoryInUse(), runtime.NumGoroutine()
			end := tc.open(t, r.url)
			each := (memoryInUse() - memory) / float64(*idleWatches)
			during := medianList(t, caller, r.url)
			end()
			began := time.Now()
			awaitGoroutines(t, goroutines+20)
			took, left := time.Since(began), memoryInUse()-memory
			// Maps keep their size, net/http keeps an ended HTTP/2 connection for a while, and some
			// memory takes a second collection. None of that gives a signal to wait for.
			most := 4<<20 + float64(*idleWatches)*1024
			for ; left > most && time.Since(began) < patience; left = memoryInUse() - memory {
				time.Sleep(10 * time.Millisecond)
			}
			t.Logf("a watch takes %.0f bytes; a list takes %v, before %v; the watches ended after %v; %.0f bytes are left", each, during, before, took, left)
			if each > tc.most {
				t.Errorf("a watch takes %.0f bytes, want at most %.0f", each, tc.most)
			}
			if left > most {
				t.Errorf("%.0f bytes are left, want at most %.0f", left, most)
			}
		})
	}
}

// medianList returns the median duration of a list.
func medianList(t *testing.T, c *http.Client, url string) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 21 {
		all = append(all, wantList(t, c, url, "ann"))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// idleHTTP1 opens watches, each on its own connection.
func idleHTTP1(t *testing.T, url string) (end func()) {
	var all []*tls.Conn
	for range *idleWatches {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
		if _, err := io.WriteString(conn, "GET "+idleWatch+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		for header, buffer := "", make([]byte, 512); !strings.Contains(header, "\r\n\r\n"); {
			n, err := conn.Read(buffer)
			if header += string(buffer[:n]); err != nil || !strings.HasPrefix(header, "HTTP/1.1 200") {
				t.Fatalf("the watch got %q, %v; want 200", header, err)
			}
		}
	}
	return func() {
		for _, conn := range all {
			_ = conn.Close()
		}
	}
}

// idleHTTP2 opens a hundred watches on each connection.
func idleHTTP2(t *testing.T, url string) (end func()) {
	var all []*rawHTTP2
	for n := range *idleWatches {
		if n%100 == 0 {
			all = append(all, dialHTTP2(t, url))
		}
		c := all[len(all)-1]
		c.request(uint32(2*(n%100)+1), idleWatch, "ann")
		if err := c.out.Flush(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); c.answers.Load() < int64(n%100+1); time.Sleep(50 * time.Microsecond) {
			if time.Since(began) > patience {
				t.Fatalf("watch %d got no answer", n)
			}
		}
	}
	return func() {
		for _, c := range all {
			c.end()
		}
	}
}
