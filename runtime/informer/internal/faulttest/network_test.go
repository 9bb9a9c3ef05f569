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

// TestConnectionsThatFail has connections that hang or are slow, too.
func TestConnectionsThatFail(t *testing.T) {
	unreachable := reasons(reason.Unreachable)
	silent := reasons(reason.Silent)
	answer := func(on sourcetest.Verb, times int, do func(*sourcetest.Answer)) func(*world) {
		return func(w *world) { w.inject(on, times, do) }
	}
	rewatch := func(times int, do func(*sourcetest.Answer)) func(*world) {
		return func(w *world) {
			w.inject(sourcetest.Watch, times, do)
			w.server.EndWatches()
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
		{name: "connection refused at the start", first: answer(anyVerb, 5, sourcetest.Fail(refused)), reasons: unreachable, requests: 7},
		{name: "connection refused while watching", later: rewatch(5, sourcetest.Fail(refused)), reasons: unreachable, requests: 6, check: noRelist},
		{name: "ten minutes of outage", later: func(w *world) {
			time.AfterFunc(10*time.Minute, w.inject(anyVerb, sourcetest.Always, sourcetest.Fail(refused)))
			w.server.EndWatches()
		}, reasons: unreachable, within: 11 * time.Minute, requests: 45, check: func(w *world) {
			noRelist(w)
			requests := w.server.Requests()[w.before:]
			for i := 10; i < len(requests); i++ {
				if gap := requests[i].Time.Sub(requests[i-1].Time); gap < 15*time.Second || gap > 30*time.Second {
					w.t.Errorf("attempt %d comes %v after the one before; the backoff does not stay at its cap", i, gap)
				}
			}
		}},
		{name: "reset before an answer", first: answer(anyVerb, 3, sourcetest.Fail(reset)), reasons: unreachable, requests: 5},
		{name: "list reset in its middle", lists: true, first: answer(sourcetest.List, 3, cut(2000, reset)), reasons: unreachable, requests: 5},
		{name: "watch-list reset in its middle", first: answer(sourcetest.WatchList, 3, cut(2000, reset)), reasons: unreachable, requests: 4},
		{name: "watch reset in its middle", later: rewatch(1, cut(1500, reset)), reasons: unreachable, requests: 3, check: noRelist},
		{name: "connection closed in the middle of an event", later: rewatch(1, cut(1500, io.ErrUnexpectedEOF)), reasons: unreachable, requests: 3, check: noRelist},
		{name: "connection lost by HTTP/2", later: rewatch(1, cut(1500, errors.New("http2: client connection lost"))), reasons: unreachable, requests: 3, check: noRelist},
		{name: "no answer at the start", first: answer(anyVerb, 2, sourcetest.Fail(sourcetest.ErrHang)), reasons: silent, within: 10 * time.Minute, requests: 8},
		{name: "no answer to a watch", later: rewatch(1, sourcetest.Fail(sourcetest.ErrHang)), reasons: silent, within: 5 * time.Minute, requests: 8},
		{name: "half-open list", lists: true, first: answer(sourcetest.List, 1, cut(2000, sourcetest.ErrHang)), reasons: silent, within: 5 * time.Minute, requests: 4},
		{
			name: "half-open watch-list", first: answer(sourcetest.WatchList, 1, cut(2000, sourcetest.ErrHang)),
			reasons: reasons(reason.NoBookmark), requests: 3,
		},
		{name: "half-open watch", later: rewatch(1, cut(1500, sourcetest.ErrHang)), reasons: silent, within: 5 * time.Minute, requests: 6},
		{name: "list that trickles", lists: true, first: answer(sourcetest.List, 1, slow(1, 10*time.Second)), reasons: silent, within: 6 * time.Minute, requests: 4},
		{name: "list that is slow but comes", lists: true, first: answer(sourcetest.List, 1, slow(200, time.Second)), requests: 2},
		{name: "watch that is slow but comes", later: rewatch(1, slow(2000, 50*time.Millisecond)), requests: 1},
		{name: "answer that comes late", first: answer(anyVerb, 1, func(a *sourcetest.Answer) { a.Delay = 8 * time.Second }), requests: 1},
		{name: "watch closed at once, for nine minutes", later: func(w *world) {
			time.AfterFunc(9*time.Minute, w.inject(sourcetest.Watch, sourcetest.Always, func(a *sourcetest.Answer) { a.Body = []byte{} }))
			w.server.EndWatches()
		}, reasons: reasons(reason.ShortWatch), within: 10 * time.Minute, requests: 45, check: noRelist},
		{name: "watch closed every ten seconds", later: func(w *world) {
			for i := range 50 {
				time.AfterFunc(time.Duration(i)*10*time.Second, w.server.EndWatches)
			}
		}, within: 9 * time.Minute, requests: 52, check: noRelist},
		{name: "no bookmarks while nothing happens", later: func(w *world) {
			w.server.BookmarkInterval = -1
			w.server.EndWatches()
		}, requests: 1},
	})
}
