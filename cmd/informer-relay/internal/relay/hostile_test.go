// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// startTLS starts a relay with TLS.
func startTLS(t testing.TB, s *apiServer) (*running, *authority) {
	t.Helper()
	a, folder, config := newAuthority(t), t.TempDir(), configOf(t, tokens)
	cert, key := a.issue(t, "relay", "")
	write(t, folder, time.Now(), map[string][]byte{"tls.crt": cert, "tls.key": key})
	config.Listen.CertFile, config.Listen.KeyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	r := s.start(t, config)
	r.await(t)
	return r, a
}

var frames = flag.Int("frames", 150, "how many frames, or streams, the tests of hostile clients of HTTP/2 send")

// TestRapidReset has a client of HTTP/2 that opens streams and resets them at once, each with a
// token of its own and then all with a good one. The relay goes on, the API server sees little of
// it, and nothing is left.
func TestRapidReset(t *testing.T) { rapidReset(t, *frames) }

// BenchmarkRapidReset does the same with 200,000 streams, and logs how long a caller waits then.
func BenchmarkRapidReset(b *testing.B) {
	for b.Loop() {
		rapidReset(b, 100_000)
	}
}

func rapidReset(t testing.TB, streams int) {
	s := newAPIServer(t, "ann list pods in")
	s.pods.Create(pod("shop", "web"))
	r, a := startTLS(t, s)
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: a.clientConfig(t, "", ""), ForceAttemptHTTP2: true}, Timeout: patience}
	defer caller.CloseIdleConnections()
	wantList(t, caller, r.url, "ann")
	goroutines, reviews, began := runtime.NumGoroutine(), s.reviews.Load(), time.Now()
	for _, token := range []string{"stranger-%d", "ann"} {
		sent, calm := resetStreams(t, r.url, streams, token)
		t.Logf("%q: %d streams were reset; told to calm down: %v; a caller had its list after %v", token, sent, calm, wantList(t, caller, r.url, "ann"))
	}
	if seen := s.reviews.Load() - reviews; seen > 200+20*int64(time.Since(began).Seconds()+1) {
		t.Errorf("the API server has seen %d reviews", seen)
	}
	// Connections to the API server stay for other reviews, with three goroutines each.
	awaitGoroutines(t, goroutines+200)
}

// awaitGoroutines waits until there are no more than most. Those of net/http can only be polled.
func awaitGoroutines(t testing.TB, most int) {
	t.Helper()
	for began := time.Now(); runtime.NumGoroutine() > most; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d goroutines are left, want %d at most", runtime.NumGoroutine(), most)
		}
	}
}

// TestFloodsOverHTTP2 sends a connection full of frames of one kind, whose answers or effects would
// have to be kept. Another caller has its list meanwhile, and nothing is left.
func TestFloodsOverHTTP2(t *testing.T) {
	s := newAPIServer(t, "bob list pods in", "ann watch pods in")
	s.pods.Create(pod("shop", "web"))
	r, a := startTLS(t, s)
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: a.clientConfig(t, "", ""), ForceAttemptHTTP2: true}, Timeout: patience}
	defer caller.CloseIdleConnections()
	wantList(t, caller, r.url, "bob")
	for name, send := range map[string]func(c *rawHTTP2, n uint32){
		"pings":    func(c *rawHTTP2, _ uint32) { c.frame(pingFrame, 0, 0, make([]byte, 8)) },
		"settings": func(c *rawHTTP2, _ uint32) { c.frame(settingsFrame, 0, 0, nil) },
		"headers without an end": func(c *rawHTTP2, n uint32) {
			if n == 0 {
				c.frame(headersFrame, firstHeaders, 1, headerBlock(0x82, idleWatch, "ann"))
			}
			c.frame(continuationFrame, 0, 1, bytes.Repeat([]byte{0x00, 1, 'x', 1, 'y'}, 100))
		},
		"empty parts of a body": func(c *rawHTTP2, n uint32) {
			if n == 0 {
				c.frame(headersFrame, headersOfPost, 1, headerBlock(0x83, idleWatch, "ann"))
			}
			c.frame(dataFrame, 0, 1, nil)
		},
		"priorities": func(c *rawHTTP2, n uint32) { c.frame(priorityFrame, 0, 2*n+1, []byte{0, 0, 0, 0, 16}) },
		"watches":    func(c *rawHTTP2, n uint32) { c.request(2*n+1, idleWatch, "ann") },
		"watches that are reset": func(c *rawHTTP2, n uint32) {
			c.request(2*n+1, idleWatch, "ann")
			c.frame(resetFrame, 0, 2*n+1, []byte{0, 0, 0, 8})
		},
		"watches that the server must reset": func(c *rawHTTP2, n uint32) {
			c.request(2*n+1, idleWatch, "ann")
			c.frame(windowUpdateFrame, 0, 2*n+1, make([]byte, 4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			goroutines, memory, began := runtime.NumGoroutine(), inUse(), time.Now()
			c := dialHTTP2(t, r.url)
			for n := range uint32(*frames) {
				if send(c, n); n%100 == 99 && c.out.Flush() != nil {
					break
				}
			}
			took := wantList(t, caller, r.url, "bob")
			t.Logf("told to calm down: %v; %v; a caller had its list after %v", c.end(), time.Since(began), took)
			awaitGoroutines(t, goroutines+100)
			awaitMemory(t, memory+4<<20)
		})
	}
}

// wantList asks for a list, and returns how long that took.
func wantList(t testing.TB, c *http.Client, url, token string) time.Duration {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	began := time.Now()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a caller gets %s, %v", resp.Status, err)
	}
	return time.Since(began)
}

// resetStreams opens streams on one connection and resets each at once. It returns how many it
// could, and whether the server has ended the connection for that.
func resetStreams(t testing.TB, url string, streams int, token string) (sent int, calm bool) {
	t.Helper()
	c := dialHTTP2(t, url)
	for ; sent < streams; sent++ {
		name := token
		if strings.Contains(token, "%d") {
			name = fmt.Sprintf(token, sent)
		}
		id := uint32(2*sent + 1)
		c.request(id, "/api/v1/pods", name)
		c.frame(resetFrame, 0, id, []byte{0, 0, 0, 8})
		if sent%100 == 99 && c.out.Flush() != nil {
			break
		}
	}
	return sent, c.end()
}

// awaitMemory waits until no more bytes than most are in use. The last handlers of a flood end a
// moment after the others.
func awaitMemory(t testing.TB, most float64) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		switch used := inUse(); {
		case used <= most:
			return
		case time.Since(began) > 2*patience:
			t.Fatalf("%.0f bytes are in use, want %.0f at most", used, most)
		}
	}
}

// inUse returns the memory of heap and stacks after two collections.
func inUse() float64 {
	runtime.GC()
	runtime.GC()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64() + samples[1].Value.Uint64())
}
