// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestAnswers plays the history to an API server, and compares its answers with those of the file.
// The handler gets the same requests, and is compared with the API server.
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

// sendAgain sends the requests again, one by one, whose answers are not the ones that are wanted.
func (p *play) sendAgain(t *testing.T, to *side, exchanges []*exchange, answers []*sent, want func(*exchange) string) {
	t.Helper()
	for i, e := range exchanges {
		for n := 1; n < attempts && p.line(t, answers[i]) != want(e); n++ {
			answers[i] = p.send(t, to, exchanges[i:i+1])[0]
		}
	}
}

// The sections of the file that something has to happen for.
const (
	liveWatches = "live watches"
	compacted   = "after a compaction"
	refilled    = "after the watch cache was filled again"
)

// prepare does what a section is named after.
func (p *play) prepare(t *testing.T, section string) {
	t.Helper()
	switch section {
	case compacted:
		p.compareRandom(t) // while all of the history is there
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

// awaitExpired waits until the API server knows that etcd has been compacted.
func (p *play) awaitExpired(t *testing.T) {
	t.Helper()
	poll.Until(t, func() error {
		old := p.send(t, p.server, []*exchange{{request: "GET widgets?resourceVersion={a3}&resourceVersionMatch=Exact"}})
		if answer := p.line(t, old[0]); !strings.HasPrefix(answer, "410") {
			return fmt.Errorf("the history before the compaction is still there: %s", answer)
		}
		return nil
	})
}

// live makes the changes that open watches see. One of them begins in the future, and its answer
// when that is reached: it sees the state of that time, so no more must happen until then.
func (p *play) live(t *testing.T, exchanges []*exchange, watches []*sent) {
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
