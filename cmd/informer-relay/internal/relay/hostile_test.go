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
func startTLS(t testing.TB, s *apiServer) (*runningRelay, *authority) {
	t.Helper()
	a, folder, config := newAuthority(t), t.TempDir(), configOf(t, tokens)
	cert, key := a.issue(t, "relay", "")
	write(t, folder, time.Now(), map[string][]byte{"tls.crt": cert, "tls.key": key})
	config.Listen.CertFile, config.Listen.KeyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	r := s.start(t, config)
	r.await(t)
	return r, a
}

var frameCount = flag.Int("frames", 150, "number of frames or streams sent by the tests of hostile HTTP/2 clients")

// TestRapidReset opens HTTP/2 streams and resets them at once, first each with its own token, then
// all with a valid one. The relay must go on, send few reviews to the API server, and keep no
// goroutines.
func TestRapidReset(t *testing.T) { rapidReset(t, *frameCount) }

// BenchmarkRapidReset does the same with 200,000 streams, and logs the time of another caller's
// list.
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
		t.Logf("%q: %d streams were reset; ENHANCE_YOUR_CALM: %v; a caller had its list after %v", token, sent, calm, wantList(t, caller, r.url, "ann"))
	}
	if seen := s.reviews.Load() - reviews; seen > 200+20*int64(time.Since(began).Seconds()+1) {
		t.Errorf("the API server got %d reviews, want at most 200 and 20 a second", seen)
	}
	// Connections to the API server stay for other reviews, with three goroutines each.
	awaitGoroutines(t, goroutines+200)
}

// awaitGoroutines waits until at most this many goroutines are left. net/http's can only be polled.
func awaitGoroutines(t testing.TB, most int) {
	t.Helper()
	for began := time.Now(); runtime.NumGoroutine() > most; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d goroutines are left, want at most %d", runtime.NumGoroutine(), most)
		}
	}
}

// TestFloodsOverHTTP2 floods a connection with frames of one kind, whose answers or effects take
// memory. Another caller must get its list meanwhile, and neither goroutines nor memory may be
// left.
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
			goroutines, memory, began := runtime.NumGoroutine(), memoryInUse(), time.Now()
			c := dialHTTP2(t, r.url)
			for n := range uint32(*frameCount) {
				if send(c, n); n%100 == 99 && c.out.Flush() != nil {
					break
				}
			}
			took := wantList(t, caller, r.url, "bob")
			t.Logf("ENHANCE_YOUR_CALM: %v; the flood took %v; a caller had its list after %v", c.end(), time.Since(began), took)
			awaitGoroutines(t, goroutines+100)
			awaitMemory(t, memory+4<<20)
		})
	}
}

// wantList expects a list, and returns its duration.
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
		t.Errorf("a caller got %s, %v; want its list", resp.Status, err)
	}
	return time.Since(began)
}

// resetStreams opens streams on one connection and resets each at once. It returns their number,
// and whether the server has ended the connection with ENHANCE_YOUR_CALM.
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

// awaitMemory waits until at most this many bytes are in use. The last handlers of a flood end a
// moment after the others.
func awaitMemory(t testing.TB, most float64) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		switch used := memoryInUse(); {
		case used <= most:
			return
		case time.Since(began) > 2*patience:
			t.Fatalf("%.0f bytes are in use, want at most %.0f", used, most)
		}
	}
}

// memoryInUse returns the memory of heap and stacks after two collections.
func memoryInUse() float64 {
	runtime.GC()
	runtime.GC()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64() + samples[1].Value.Uint64())
}
