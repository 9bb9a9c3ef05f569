// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestAnswers plays the history to an API server, and compares its answers with the file. It sends
// the same requests to the handler, and compares the handler with the API server.
func TestAnswers(t *testing.T) {
	p := start(t)
	p.make(t, before...)
	p.fetchTokens(t)
	const file = "testdata/answers.txt"
	sections, known := readSections(t, file), readDeviations(t, "testdata/deviations.txt")
	for _, s := range sections {
		p.prepare(t, s.name)
		server, handler := p.send(t, p.server, s.exchanges), p.send(t, p.handler, s.exchanges)
		if s.name == liveWatches {
			p.live(t, s.exchanges, append(server[:len(server):len(server)], handler...))
		} else if !*update {
			p.sendAgain(t, p.server, s.exchanges, server, func(e *exchange) string { return e.answer })
			p.sendAgain(t, p.handler, s.exchanges, handler, func(e *exchange) string { return known.answer(s, e) })
		}
		for i, e := range s.exchanges {
			got := p.line(t, server[i])
			if got != e.answer && !*update {
				t.Errorf("%s: %s\n got %s\nwant %s", s.name, e.request, got, e.answer)
			}
			e.answer = got
			known.compare(t, s, e, p.line(t, handler[i]))
		}
	}
	known.end(t)
	if *update {
		writeSections(t, file, sections)
	}
}

// sendAgain repeats, one by one, the requests with unexpected answers.
func (p *play) sendAgain(t *testing.T, to *side, exchanges []*exchange, answers []*pendingAnswer, want func(*exchange) string) {
	t.Helper()
	for i, e := range exchanges {
		for n := 1; n < attempts && p.line(t, answers[i]) != want(e); n++ {
			answers[i] = p.send(t, to, exchanges[i:i+1])[0]
		}
	}
}

// The sections of the file that need preparation.
const (
	liveWatches = "live watches"
	compacted   = "after a compaction"
	refilled    = "after the watch cache was filled again"
)

// prepare brings the servers to the state named by a section.
func (p *play) prepare(t *testing.T, section string) {
	t.Helper()
	switch section {
	case compacted:
		p.compareRandom(t) // before the compaction of the history
		if _, err := p.api.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.make(t, change{name: "p1", method: "PATCH", key: "a/three", spec: "color=white"})
		p.awaitExpired(t)
	case refilled:
		if err := p.api.ExpireWatches(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.make(t, change{name: "p2", method: "PATCH", key: "a/three", spec: "color=black"})
	}
}

// awaitExpired waits until the API server knows about etcd's compaction.
func (p *play) awaitExpired(t *testing.T) {
	t.Helper()
	poll.Until(t, func() error {
		old := p.send(t, p.server, []*exchange{{request: "GET widgets?resourceVersion={a3}&resourceVersionMatch=Exact"}})
		if answer := p.line(t, old[0]); !strings.HasPrefix(answer, "410") {
			return fmt.Errorf("the API server still has the history before the compaction: %s", answer)
		}
		return nil
	})
}

// live makes the changes seen by open watches. One watch begins at a future version. It answers
// with the state at that version, so live waits for the answer before further changes.
func (p *play) live(t *testing.T, exchanges []*exchange, watches []*pendingAnswer) {
	t.Helper()
	const future = 3 // changes after head
	for i, w := range watches {
		if !waitsForFuture(exchanges[i%len(exchanges)]) {
			await(t, w.began)
		}
	}
	p.make(t, live[:future]...)
	for _, w := range watches {
		await(t, w.began)
	}
	p.make(t, live[future:]...)
}

func waitsForFuture(e *exchange) bool {
	return strings.Contains(e.request, "{head+") && strings.Contains(e.request, "sendInitialEvents=true")
}
