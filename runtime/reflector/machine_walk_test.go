// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestStepDetectsTokenCycles: the tokens of a list repeat in a cycle of any length, after any
// start.
func TestStepDetectsTokenCycles(t *testing.T) {
	for start := range 6 {
		for length := 1; length <= 20; length++ {
			s, _ := step(machine{}, input{typ: inStart})
			token := func(i int) string {
				if i >= start {
					i = start + (i-start)%length
				}
				return string(rune('a' + i))
			}
			i := 0
			for s.state == StateListing {
				if i > 8*(start+length) {
					t.Fatalf("a cycle of %d tokens after %d is not detected in %d pages", length, start, i)
				}
				s, _ = step(s, input{typ: inPage, version: "5", token: token(i), items: 1})
				i++
			}
		}
	}
	// A long list without a cycle goes on, and so does one with some empty pages.
	s, _ := step(machine{}, input{typ: inStart})
	for i := range 10_000 {
		s, _ = step(s, input{typ: inPage, version: "5", token: string(rune(i + 1)), items: i % 5 / 4})
		if s.state != StateListing {
			t.Fatalf("page %d of a long list: %v", i, s.state)
		}
	}
	// A list with empty pages only does not.
	for i := range maxEmptyPages + 1 {
		s, _ = step(s, input{typ: inPage, version: "5", token: string(rune(20_000 + i))})
	}
	if s.state != StateWaiting {
		t.Errorf("after %d empty pages: %v", maxEmptyPages+1, s.state)
	}
}

// TestStepIsThrottled repeats each failure: there are at most four requests between two waits.
func TestStepIsThrottled(t *testing.T) {
	for why := reason.None + 1; why <= reason.EndlessList; why++ {
		for _, r := range []rules{{}, {watchList: true}, {pageSize: 7}} {
			for _, restored := range []string{"", "5"} {
				s, a := step(machine{rules: r}, input{typ: inStart, version: restored})
				requests := 0
				for range 100 {
					switch a.task {
					case taskWait:
						requests = 0
						s, a = step(s, input{typ: inElapsed})
					default:
						if requests++; requests > 4 {
							t.Fatalf("%v, %+v, restored %q: %d requests without a wait; now %+v", why, r, restored, requests, s)
						}
						s, a = step(s, input{typ: inFailed, reason: why})
					}
				}
			}
		}
	}
}

// TestStepWaitsAfterAFewRequests: the server answers at random, and no watch is healthy. There are
// at most six requests between two waits.
func TestStepWaitsAfterAFewRequests(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		version := 100
		s, a := step(machine{rules: []rules{{}, {watchList: true}, {pageSize: 7}}[r.IntN(3)]}, input{typ: inStart})
		requests := 0
		type event struct {
			state State
			task  task
			got   input
		}
		var history []event
		fail := func() input {
			return input{typ: inFailed, reason: reason.Reason(1 + r.IntN(int(reason.EndlessList))), shortWatch: r.IntN(2) == 0}
		}
		for range 200 {
			var in input
			switch a.task {
			case taskWait:
				requests, history = 0, history[:0]
				in = input{typ: inElapsed}
			case taskStop:
				in = input{typ: inFailed, reason: a.detected}
			case taskProbe:
				in = input{typ: inProbed, version: fmt.Sprint(version - r.IntN(2)*50)}
			case taskList, taskPage:
				requests++
				if in = fail(); r.IntN(2) == 0 {
					in = input{typ: inPage, version: fmt.Sprint(version - r.IntN(2)*50)}
				}
			case taskWatchList, taskWatch:
				requests++
				switch in = fail(); r.IntN(4) {
				case 0:
					in = input{typ: inEnded, shortWatch: true}
				case 1:
					in = input{typ: inEvent, event: source.Bookmark, version: fmt.Sprint(version - r.IntN(2)*50), initialEnd: true}
				}
			case taskContinue:
				if in = fail(); r.IntN(2) == 0 {
					in = input{typ: inEnded, shortWatch: true, hasEvents: true}
				}
			}
			history = append(history, event{s.state, a.task, in})
			if requests > 6 {
				t.Fatalf("seed %d: %d requests without a wait: %s", seed, requests, fmt.Sprintf("%+v", history))
			}
			s, a = step(s, in)
		}
	}
}
