// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
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

// TestRapidReset has a client of HTTP/2 that opens streams and resets them at once, each with a
// token of its own and then all with a good one. The relay goes on, the API server sees little of
// it, and nothing is left.
func TestRapidReset(t *testing.T) { rapidReset(t, 500) }

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
	wantList(t, caller, r.url)
	goroutines, reviews, began := runtime.NumGoroutine(), s.reviews.Load(), time.Now()
	resets := 0
	for _, token := range []string{"stranger-%d", "ann"} {
		sent, calm := resetStreams(t, r.url, a, streams, token)
		resets += sent
		t.Logf("%q: %d streams were reset; told to calm down: %v", token, sent, calm)
		wantList(t, caller, r.url)
	}
	if seen := s.reviews.Load() - reviews; seen > 200+20*int64(time.Since(began).Seconds()+1) {
		t.Errorf("the API server has seen %d reviews", seen)
	}
	// Connections to the API server stay for other reviews, with three goroutines each. Those of
	// net/http can only be polled.
	goroutines += 200
	for ; runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d goroutines are left of %d streams, want %d at most", runtime.NumGoroutine(), resets, goroutines)
		}
	}
}

func wantList(t testing.TB, c *http.Client, url string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ann")
	began := time.Now()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a caller gets %s, %v", resp.Status, err)
	}
	t.Logf("a caller had its list after %v", time.Since(began))
}

// resetStreams opens streams on one connection and resets each at once. It returns how many it
// could, and whether the server has ended the connection for that.
func resetStreams(t testing.TB, url string, a *authority, streams int, token string) (sent int, calm bool) {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const headers, reset, settings, ack, goAway, endOfBoth = 1, 3, 4, 1, 7, 5
	read := make(chan bool, 1)
	go func() { // what the server says
		var header [9]byte
		for in := bufio.NewReader(conn); ; {
			if _, err := io.ReadFull(in, header[:]); err != nil {
				read <- false
				return
			}
			size := int(header[0])<<16 | int(header[1])<<8 | int(header[2])
			payload, err := io.ReadAll(io.LimitReader(in, int64(size)))
			if err != nil || header[3] == goAway && len(payload) >= 8 && binary.BigEndian.Uint32(payload[4:]) == 11 {
				read <- err == nil
				return
			}
		}
	}()
	out := bufio.NewWriter(conn)
	_, _ = out.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	writeFrame(out, settings, 0, 0, nil)
	writeFrame(out, settings, ack, 0, nil)
	for ; sent < streams; sent++ {
		id := uint32(2*sent + 1)
		var block bytes.Buffer
		block.Write([]byte{0x82, 0x87, 0x41, 1, 'x'}) // GET, https, the authority x
		block.WriteByte(0x04)                         // a path
		writeText(&block, "/api/v1/pods")
		block.Write([]byte{0x0f, 0x08}) // authorization
		name := token
		if strings.Contains(token, "%d") {
			name = fmt.Sprintf(token, sent)
		}
		writeText(&block, "Bearer "+name)
		writeFrame(out, headers, endOfBoth, id, block.Bytes())
		writeFrame(out, reset, 0, id, []byte{0, 0, 0, 8})
		if sent%100 == 99 {
			if err := out.Flush(); err != nil {
				break
			}
		}
	}
	_ = out.Flush()
	_ = conn.CloseWrite()
	return sent, <-read
}

func writeFrame(w io.Writer, kind, flags byte, stream uint32, payload []byte) {
	header := [9]byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	binary.BigEndian.PutUint32(header[5:], stream)
	_, _ = w.Write(append(header[:], payload...)) // the flush fails, too
}

// writeText writes a string as HPACK has it, which is shorter than 127 bytes.
func writeText(w *bytes.Buffer, text string) {
	w.WriteByte(byte(len(text)))
	w.WriteString(text)
}

// TestMemoryOfIdleWatches has watches over HTTP/1.1 with nothing to read, whose clients are
// connections of this process without buffers.
func TestMemoryOfIdleWatches(t *testing.T) {
	const watches, most = 300, 16 << 10
	s := newAPIServer(t, "ann watch pods in")
	r := s.start(t, configOf(t, tokens))
	r.await(t)
	before := inUse()
	for range watches {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /api/v1/pods?watch=true&resourceVersion=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		for header, buffer := "", make([]byte, 512); !strings.Contains(header, "\r\n\r\n"); {
			n, err := conn.Read(buffer)
			if header += string(buffer[:n]); err != nil || !strings.HasPrefix(header, "HTTP/1.1 200") {
				t.Fatalf("%q, %v", header, err)
			}
		}
	}
	if each := (inUse() - before) / watches; each > most {
		t.Errorf("a watch takes %.0f bytes, want %d at most", each, most)
	} else {
		t.Logf("a watch takes %.0f bytes", each)
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
