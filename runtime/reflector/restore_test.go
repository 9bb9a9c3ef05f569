// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestStepEndsARestoredStateOnce: the server answers at random. The restored full state is
// completed or aborted before any other call to the sink, and only once.
func TestStepEndsARestoredStateOnce(t *testing.T) {
	ended := map[call]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		s, a := step(machine{rules: []rules{{}, {watchList: true}}[r.IntN(2)]}, input{typ: inStart, version: "100"})
		version := func() string { return fmt.Sprint(80 + r.IntN(60)) }
		done, replacing := false, true
		for range 30 {
			switch {
			case a.call == callEndReplace || a.call == callAbortReplace:
				if replacing = false; !done {
					ended[a.call]++
				}
				done = true
			case a.call != callNone && a.call != callReplace && replacing && !done:
				t.Fatalf("seed %d: call %d before the restored state has ended", seed, a.call)
			}
			if a.task == taskWatchList || a.task == taskList {
				if replacing {
					t.Fatalf("seed %d: a second replace begins", seed)
				}
				replacing = true
			}
			in := input{typ: inFailed, reason: reason.Reason(1 + r.IntN(int(reason.EndlessList)))}
			switch a.task {
			case taskWait:
				in = input{typ: inElapsed}
			case taskProbe:
				in = input{typ: inProbed, version: []string{"", version()}[r.IntN(2)]}
			case taskStop:
				in.reason = a.detected
			default:
				switch n := r.IntN(4); {
				case n == 0 || s.state == StateListing:
				case s.restored:
					in = []input{{typ: inConfirmed, version: version()}, {typ: inUnconfirmed}, {typ: inOpened}}[n-1]
				case s.state == StateWatching:
					in = input{typ: inEvent, event: source.Bookmark, version: version()}
				}
			}
			s, a = step(s, in)
		}
	}
	if ended[callEndReplace] < 100 || ended[callAbortReplace] < 100 {
		t.Errorf("calls by kind %v, want at least 100 of both", ended)
	}
}
