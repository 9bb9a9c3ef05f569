// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

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
