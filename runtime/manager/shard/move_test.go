// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// hop is the time that a request takes, with its answer, and that an event of a watch takes.
const hop = time.Millisecond

// far is a network in which everything takes a hop.
func far(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		time.Sleep(hop)
		resp, err := next.RoundTrip(req)
		if err == nil && req.URL.Query().Get("watch") != "" {
			resp.Body = newFarBody(resp.Body)
		}
		return resp, err
	})
}

// farBody is a stream whose parts take a hop each, side by side.
type farBody struct {
	io.Closer
	parts chan part
	rest  []byte
}

type part struct {
	due     time.Time
	content []byte
	err     error
}

func newFarBody(near io.ReadCloser) *farBody {
	b := &farBody{Closer: near, parts: make(chan part, 10_000)}
	go func() {
		for err := error(nil); err == nil; {
			var n int
			p := part{content: make([]byte, 64<<10)}
			n, err = near.Read(p.content)
			p.due, p.content, p.err = time.Now().Add(hop), p.content[:n], err
			b.parts <- p
		}
		close(b.parts)
	}()
	return b
}

func (b *farBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		next, ok := <-b.parts
		if !ok {
			return 0, io.EOF
		}
		time.Sleep(time.Until(next.due))
		if b.rest = next.content; len(b.rest) == 0 && next.err != nil {
			return 0, next.err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// moves notes for how long nobody works on a bucket while it moves.
type moves struct {
	mu      sync.Mutex // mu guards the fields below
	revoked map[int]time.Time
	gaps    []time.Duration
}

func (m *moves) Grant(buckets partition.Set) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for b := range buckets.All() {
		if at, ok := m.revoked[b]; ok {
			m.gaps = append(m.gaps, time.Since(at))
		}
	}
}

func (m *moves) Revoke(buckets partition.Set) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for b := range buckets.All() {
		m.revoked[b] = time.Now()
	}
}

func (*moves) Running(int) int      { return 0 }
func (*moves) Cancel(partition.Set) {}
func (*moves) Queued([]int)         {}

// TestMoveTakesFewHops shows that a move waits for nothing but the network. These are in a row: the
// old owner writes that it has stopped, the coordinator sees that, writes the new owner, which sees
// it. A write may wait for the answer to the one before, and an event for one.
func TestMoveTakesFewHops(t *testing.T) {
	const most = 12 * hop // less than any timer
	inBubble(t, func(t *testing.T, r *rig) {
		m := &moves{revoked: map[int]time.Time{}}
		var all []*process
		join := func(name string) *process {
			var p *process
			ready := make(chan struct{})
			p = r.startOver(name, far, nil, func(ctx context.Context) error {
				<-ready
				defer p.hub.AddWorker(m)()
				<-ctx.Done()
				return nil
			})
			close(ready)
			all = append(all, p)
			return p
		}
		a := join("a")
		same(t, after(joinDelay+time.Second, a), "64")
		b, c := join("b"), join("c")
		same(t, after(joinDelay+time.Second, a, b, c), "21 21 22")
		_ = b.stop()
		same(t, after(time.Second, a, b, c), "0 32 32")
		_ = a.stop()
		same(t, after(time.Second, a, b, c), "0 0 64")
		worst := time.Duration(0)
		for _, gap := range m.gaps {
			worst = max(worst, gap)
		}
		t.Logf("%d moves, the longest took %v", len(m.gaps), worst)
		if len(m.gaps) < 64 || worst > most {
			t.Errorf("%d moves, the longest took %v, want at most %v", len(m.gaps), worst, most)
		}
		_ = c.stop()
	})
}
