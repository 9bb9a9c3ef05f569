// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wire checks that nothing is sent for an epoch that was shut.
type wire struct {
	mu      sync.Mutex // mu guards the fields below
	shut    [4]uint64  // the highest epoch of each bucket that was shut
	sent    int
	illegal []string
}

// wireConn is a connection of one request.
type wireConn struct {
	net.Conn // nil
	wire     *wire
	bucket   int
	epoch    uint64
	closed   bool // wire.mu guards it
}

func (c *wireConn) Close() error {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.closed = true
	return nil
}

func (c *wireConn) Write(p []byte) (int, error) {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.wire.sent++
	if c.epoch <= c.wire.shut[c.bucket] {
		c.wire.illegal = append(c.wire.illegal, fmt.Sprintf("bucket %d at epoch %d", c.bucket, c.epoch))
	}
	return len(p), nil
}

// send is a transport that doesn't look at the context, and pauses at any point.
func (w *wire) send(req *http.Request) (*http.Response, error) {
	var conn *wireConn
	pause := func() { time.Sleep(rand.N(4 * time.Millisecond)) }
	agent := req.Header.Get("User-Agent")
	for range 1 + rand.IntN(2) { // connections, one after the other
		conn = &wireConn{wire: w}
		if _, err := fmt.Sscanf(agent[strings.LastIndex(agent, " ")+1:], "%d@%d", &conn.bucket, &conn.epoch); err != nil {
			return nil, fmt.Errorf("%q: %w", agent, err)
		}
		pause()
		httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	for buf := make([]byte, 1); ; {
		pause()
		_, end := req.Body.Read(buf)
		pause()
		if _, err := conn.Write(buf); err != nil {
			return nil, err
		}
		if end != nil {
			break
		}
	}
	pause()
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("response"))}, nil
}

// TestNothingIsSentAfterShut sends requests of buckets that are opened and shut at random times.
func TestNothingIsSentAfterShut(t *testing.T) {
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			d, w := newDoors(t), &wire{}
			client := d.client(w.send)
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			var epochs [4]uint64
			var mu sync.Mutex // mu guards epochs
			for n := range 8 {
				all.Go(func() {
					for bucket := n % 4; ctx.Err() == nil; time.Sleep(time.Millisecond) {
						mu.Lock()
						epoch := epochs[bucket]
						mu.Unlock()
						resp, err := d.do(client, inMemory, bucket, epoch, strings.NewReader("{}"))
						if err == nil {
							_, err = io.ReadAll(resp.Body)
							_ = resp.Body.Close()
						}
						if err != nil && !errors.Is(err, errClosed) {
							t.Error(err)
						}
					}
				})
			}
			for epoch := uint64(1); epoch <= 50; epoch++ {
				bucket := rand.IntN(4)
				d.Open(bucket, epoch)
				mu.Lock()
				epochs[bucket] = epoch
				mu.Unlock()
				time.Sleep(rand.N(20 * time.Millisecond))
				bucket = rand.IntN(4)
				idle := d.Shut(bucket, errShut)
				w.mu.Lock()
				w.shut[bucket] = max(w.shut[bucket], epochs[bucket])
				w.mu.Unlock()
				if rand.IntN(2) == 0 {
					<-idle
				}
			}
			stop()
			all.Wait()
			if w.sent == 0 || len(w.illegal) > 0 {
				t.Errorf("%d writes; illegal: %v", w.sent, w.illegal)
			}
		})
	}
}
