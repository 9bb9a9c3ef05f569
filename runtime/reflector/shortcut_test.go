// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestTheShortcutForEventsDoesWhatStepDoes: an open watch passes an event on by next, not by step.
// On random sequences both lead to the same states and the same calls, and where next declines an
// event, step leaves the stream.
func TestTheShortcutForEventsDoesWhatStepDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	types := []source.EventType{source.Added, source.Modified, source.Deleted, source.Bookmark}
	versions := []string{"", "1", "2", "3", "9", "10", "11", "99", "100", "x"}
	declined := 0
	for range 2000 {
		long := machine{state: StateWatching, synced: true, version: versions[r.IntN(len(versions))], hasty: r.IntN(2) == 0, paged: r.IntN(2) == 0}
		short := long
		for range 1 + r.IntN(20) {
			in := input{typ: inEvent, event: types[r.IntN(len(types))], version: versions[r.IntN(len(versions))], initialEnd: r.IntN(2) == 0}
			var a action
			long, a = step(long, in)
			c, ok := short.next(in.event, in.version)
			if diff := cmp.Diff(long, short, cmp.AllowUnexported(machine{}, rules{}, pages{})); diff != "" {
				t.Fatalf("after %+v (-step +next):\n%s", in, diff)
			}
			if c != a.call || ok == (a.task == taskLeave) {
				t.Fatalf("%+v: step has call %d and task %d, next has %d, %v", in, a.call, a.task, c, ok)
			}
			if !ok {
				declined++
				break // the stream is left
			}
		}
	}
	if declined == 0 {
		t.Error("no sequence had an event that goes back")
	}
}
