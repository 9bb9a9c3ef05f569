// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestStepOfARestoredState(t *testing.T) {
	streams := rules{stream: true}
	failed := func(reason reason.Reason) input { return input{typ: inFailed, reason: reason} }
	begun := machine{rules: streams, state: StateConnecting, version: "5", restored: true}
	asked := begun
	asked.asked = true
	complete := machine{rules: streams, state: StateConnecting, version: "5", synced: true}
	watching := complete
	watching.state = StateWatching
	later := func(m machine, change func(*machine)) machine {
		change(&m)
		return m
	}
	for name, tc := range map[string]struct {
		from machine
		in   input
		to   machine
		do   action
	}{
		"start": {
			machine{rules: streams}, input{typ: inStart, version: "5"},
			begun, action{task: taskWatch, version: "5"},
		},
		"the watch is accepted, which proves nothing": {begun, input{typ: inOpened}, begun, action{}},
		"an event": {
			begun, input{typ: inConfirmed, version: "6"},
			watching, action{call: callEnd, told: "5", kept: true, version: "5"},
		},
		"a bookmark of the same version": {
			begun, input{typ: inConfirmed, version: "5"},
			watching, action{call: callEnd, told: "5", kept: true, version: "5"},
		},
		"an older event": {
			begun, input{typ: inConfirmed, version: "4"},
			begun, action{task: taskLeave, noticed: reason.WentBack},
		},
		"silence": {begun, input{typ: inQuiet}, asked, action{task: taskProbe}},
		"silence that an event has ended": {
			watching, input{typ: inQuiet},
			complete, action{task: taskWatch, version: "5"},
		},
		"the server is at that version": {
			asked, input{typ: inProbed, version: "5"},
			later(complete, func(m *machine) { m.asked = true }), action{call: callEnd, told: "5", kept: true, task: taskWatch, version: "5"},
		},
		"the server went back": {
			asked, input{typ: inProbed, version: "4"},
			later(asked, func(m *machine) {
				m.restored, m.state, m.fresh, m.anew, m.hasty = false, StateStreaming, true, true, true
			}),
			action{call: callAbort, task: taskStream, noticed: reason.WentBack},
		},
		"the server doesn't report its version": {
			asked, input{typ: inProbed},
			asked, action{task: taskWatch, version: "5"},
		},
		"forgotten": {
			begun, failed(reason.Expired),
			later(begun, func(m *machine) { m.restored, m.state, m.hasty = false, StateStreaming, true }),
			action{call: callAbort, task: taskStream, version: "5"},
		},
		"forgotten, without watch-lists": {
			machine{state: StateConnecting, version: "5", restored: true}, failed(reason.Expired),
			machine{state: StateListing, version: "5", hasty: true}, action{call: callAbort, task: taskList, version: "5", match: "NotOlderThan"},
		},
		"no answer": {
			begun, failed(reason.Silent),
			later(begun, func(m *machine) { m.restored, m.state, m.hasty = false, StateStreaming, true }),
			action{call: callAbort, task: taskStream, version: "5"},
		},
		"unreachable": {
			begun, failed(reason.Unreachable),
			later(begun, func(m *machine) { m.state, m.then = StateWaiting, StateConnecting }), action{task: taskWait},
		},
		"refused": {
			begun, failed(reason.Refused),
			later(begun, func(m *machine) { m.state, m.then, m.fresh = StateWaiting, StateListing, true }), action{task: taskWait},
		},
		"refused, after the wait": {
			later(begun, func(m *machine) { m.state, m.then, m.fresh = StateWaiting, StateListing, true }), input{typ: inElapsed},
			later(begun, func(m *machine) { m.restored, m.state, m.then, m.fresh = false, StateStreaming, StateListing, true }),
			action{call: callAbort, task: taskStream},
		},
	} {
		t.Run(name, func(t *testing.T) {
			to, do := step(tc.from, tc.in)
			if diff := cmp.Diff(tc.to, to, cmp.AllowUnexported(machine{}, rules{}, pages{})); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.do, do, cmp.AllowUnexported(action{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStepEndsARestoredStateOnce has servers that answer at random: the sink's first full state,
// which is the restored one, is completed or aborted before anything else, and only once.
func TestStepEndsARestoredStateOnce(t *testing.T) {
	ended := map[call]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		s, a := step(machine{rules: []rules{{}, {stream: true}}[r.IntN(2)]}, input{typ: inStart, version: "100"})
		version := func() string { return fmt.Sprint(80 + r.IntN(60)) }
		done, replacing := false, true
		for range 30 {
			switch {
			case a.call == callEnd || a.call == callAbort:
				if replacing = false; !done {
					ended[a.call]++
				}
				done = true
			case a.call != callNothing && a.call != callReplaced && replacing && !done:
				t.Fatalf("seed %d: call %d before the restored state has ended", seed, a.call)
			}
			if a.task == taskStream || a.task == taskList {
				if replacing {
					t.Fatalf("seed %d: a second full state begins", seed)
				}
				replacing = true
			}
			in := input{typ: inFailed, reason: reason.Reason(1 + r.IntN(int(reason.EndlessList)))}
			switch a.task {
			case taskWait:
				in = input{typ: inElapsed}
			case taskProbe:
				in = input{typ: inProbed, version: []string{"", version()}[r.IntN(2)]}
			case taskLeave:
				in.reason = a.noticed
			default:
				switch n := r.IntN(4); {
				case n == 0 || s.state == StateListing:
				case s.restored:
					in = []input{{typ: inConfirmed, version: version()}, {typ: inQuiet}, {typ: inOpened}}[n-1]
				case s.state == StateWatching:
					in = input{typ: inEvent, event: source.Bookmark, version: version()}
				}
			}
			s, a = step(s, in)
		}
	}
	if ended[callEnd] < 100 || ended[callAbort] < 100 {
		t.Errorf("too few of a kind: %v", ended)
	}
}
