// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAnswers plays the history to an API server, and compares its answers with those of the file.
func TestAnswers(t *testing.T) {
	p := start(t)
	p.make(t, before...)
	p.fetchTokens(t)
	sections := readSections(t)
	for _, s := range sections {
		p.prepare(t, s.name)
		sent := p.send(t, p.sides[0], s.exchanges)
		if s.name == liveWatches {
			p.live(t, s.exchanges, sent)
		}
		for i, e := range s.exchanges {
			got := p.line(t, sent[i])
			if got != e.answer && !*update {
				t.Errorf("%s: %s\n got %s\nwant %s", s.name, e.line(), got, e.answer)
			}
			e.answer = got
		}
	}
	if *update {
		writeSections(t, sections)
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
		if _, err := p.server.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.make(t, change{name: "p1", method: http.MethodPatch, key: "a/three", spec: "color=white"})
		p.awaitExpired(t)
	case refilled:
		if err := p.server.ExpireWatches(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.make(t, change{name: "p2", method: http.MethodPatch, key: "a/three", spec: "color=black"})
	}
}

// awaitExpired waits until the API server knows that etcd has been compacted.
func (p *play) awaitExpired(t *testing.T) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		old := p.send(t, p.sides[0], []*exchange{{method: http.MethodGet, target: "widgets?resourceVersion={a3}&resourceVersionMatch=Exact"}})
		if strings.HasPrefix(p.line(t, old[0]), "410") {
			return
		}
	}
	t.Fatal("the history before the compaction is still there")
}

// live makes the changes that open watches see. One of them begins in the future, and its answer
// when that is reached: it sees the state of that time, so no more must happen until then.
func (p *play) live(t *testing.T, exchanges []*exchange, watches []*sent) {
	t.Helper()
	const future = 3 // changes after head
	for i, w := range watches {
		if !waitsForFuture(exchanges[i]) {
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
	return strings.Contains(e.target, "{head+") && strings.Contains(e.target, "sendInitialEvents=true")
}
