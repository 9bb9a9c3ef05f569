// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestConnectionsThatFail has connections that fail, hang or are slow.
func TestConnectionsThatFail(t *testing.T) {
	unreachable := reasons(reason.Unreachable)
	silent := reasons(reason.Silent)
	answer := func(on sourcetest.Verb, times int, do func(*sourcetest.Answer)) func(*rig) {
		return func(g *rig) { g.inject(on, times, do) }
	}
	rewatch := func(times int, do func(*sourcetest.Answer)) func(*rig) {
		return func(g *rig) {
			g.inject(sourcetest.Watch, times, do)
			g.server.EndWatches()
		}
	}
	cut := func(after int, err error) func(*sourcetest.Answer) {
		return func(a *sourcetest.Answer) { a.Cut, a.CutErr = after, err }
	}
	slow := func(chunk int, pause time.Duration) func(*sourcetest.Answer) {
		return func(a *sourcetest.Answer) { a.Chunk, a.Pause = chunk, pause }
	}
	refused := fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)
	reset := fmt.Errorf("read tcp: %w", syscall.ECONNRESET)
	run(t, []fault{
		{name: "connection refused at the start", duringSync: answer(anyVerb, 5, sourcetest.Fail(refused)), reasons: unreachable, requests: 7},
		{name: "connection refused while watching", whileWatching: rewatch(5, sourcetest.Fail(refused)), reasons: unreachable, requests: 6, check: noRelist},
		{name: "ten minutes of outage", whileWatching: func(g *rig) {
			time.AfterFunc(10*time.Minute, g.inject(anyVerb, sourcetest.Always, sourcetest.Fail(refused)))
			g.server.EndWatches()
		}, reasons: unreachable, within: 11 * time.Minute, requests: 45, check: func(g *rig) {
			noRelist(g)
			requests := g.server.Requests()[g.before:]
			for i := 10; i < len(requests); i++ {
				if gap := requests[i].Time.Sub(requests[i-1].Time); gap < 15*time.Second || gap > 30*time.Second {
					g.t.Errorf("attempt %d comes %v after the previous one, want 15 s to 30 s, the largest backoff", i, gap)
				}
			}
		}},
		{name: "reset before an answer", duringSync: answer(anyVerb, 3, sourcetest.Fail(reset)), reasons: unreachable, requests: 5},
		{name: "list reset in its middle", listOnly: true, duringSync: answer(sourcetest.List, 3, cut(2000, reset)), reasons: unreachable, requests: 5},
		{name: "watch-list reset in its middle", duringSync: answer(sourcetest.WatchList, 3, cut(2000, reset)), reasons: unreachable, requests: 4},
		{name: "watch reset in its middle", whileWatching: rewatch(1, cut(1500, reset)), reasons: unreachable, requests: 3, check: noRelist},
		{name: "connection closed in the middle of an event", whileWatching: rewatch(1, cut(1500, io.ErrUnexpectedEOF)), reasons: unreachable, requests: 3, check: noRelist},
		{name: "connection lost by HTTP/2", whileWatching: rewatch(1, cut(1500, errors.New("http2: client connection lost"))), reasons: unreachable, requests: 3, check: noRelist},
		{name: "no answer at the start", duringSync: answer(anyVerb, 2, sourcetest.Fail(sourcetest.ErrHang)), reasons: silent, within: 10 * time.Minute, requests: 8},
		{name: "no answer to a watch", whileWatching: rewatch(1, sourcetest.Fail(sourcetest.ErrHang)), reasons: silent, within: 5 * time.Minute, requests: 8},
		{name: "half-open list", listOnly: true, duringSync: answer(sourcetest.List, 1, cut(2000, sourcetest.ErrHang)), reasons: silent, within: 5 * time.Minute, requests: 4},
		{
			name: "half-open watch-list", duringSync: answer(sourcetest.WatchList, 1, cut(2000, sourcetest.ErrHang)),
			reasons: reasons(reason.NoBookmark), requests: 3,
		},
		{name: "half-open watch", whileWatching: rewatch(1, cut(1500, sourcetest.ErrHang)), reasons: silent, within: 5 * time.Minute, requests: 6},
		{name: "list that trickles", listOnly: true, duringSync: answer(sourcetest.List, 1, slow(1, 10*time.Second)), reasons: silent, within: 6 * time.Minute, requests: 4},
		{name: "slow list", listOnly: true, duringSync: answer(sourcetest.List, 1, slow(200, time.Second)), requests: 2},
		{name: "slow watch", whileWatching: rewatch(1, slow(2000, 50*time.Millisecond)), requests: 1},
		{name: "late answer", duringSync: answer(anyVerb, 1, func(a *sourcetest.Answer) { a.Delay = 8 * time.Second }), requests: 1},
		{name: "watch closed at once, for nine minutes", whileWatching: func(g *rig) {
			time.AfterFunc(9*time.Minute, g.inject(sourcetest.Watch, sourcetest.Always, func(a *sourcetest.Answer) { a.Body = []byte{} }))
			g.server.EndWatches()
		}, reasons: reasons(reason.ShortWatch), within: 10 * time.Minute, requests: 45, check: noRelist},
		{name: "watch closed every ten seconds", whileWatching: func(g *rig) {
			for i := range 50 {
				time.AfterFunc(time.Duration(i)*10*time.Second, g.server.EndWatches)
			}
		}, within: 9 * time.Minute, requests: 52, check: noRelist},
		{name: "no bookmarks while nothing happens", whileWatching: func(g *rig) {
			g.server.BookmarkInterval = -1
			g.server.EndWatches()
		}, requests: 1},
	})
}
