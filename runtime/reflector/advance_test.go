// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestAdvanceAgreesWithStep: an open watch handles an event by advance, not by step. On random
// sequences both have the same states and calls, and where advance refuses an event, step stops
// the stream.
func TestAdvanceAgreesWithStep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	types := []source.EventType{source.Added, source.Modified, source.Deleted, source.Bookmark}
	versions := []string{"", "1", "2", "3", "9", "10", "11", "99", "100", "x"}
	refused := 0
	for range 2000 {
		byStep := machine{state: StateWatching, synced: true, version: versions[r.IntN(len(versions))], retriedAtOnce: r.IntN(2) == 0, alwaysPages: r.IntN(2) == 0}
		byAdvance := byStep
		for range 1 + r.IntN(20) {
			in := input{typ: inEvent, event: types[r.IntN(len(types))], version: versions[r.IntN(len(versions))], initialEnd: r.IntN(2) == 0}
			var a action
			byStep, a = step(byStep, in)
			c, ok := byAdvance.advance(in.event, in.version)
			if diff := cmp.Diff(byStep, byAdvance, cmp.AllowUnexported(machine{}, rules{}, pages{})); diff != "" {
				t.Fatalf("after %+v (-step +advance):\n%s", in, diff)
			}
			if c != a.call || ok == (a.task == taskStop) {
				t.Fatalf("%+v: step returns call %d and task %d, advance %d, %v", in, a.call, a.task, c, ok)
			}
			if !ok {
				refused++
				break // the stream is stopped
			}
		}
	}
	if refused == 0 {
		t.Error("no event was refused")
	}
}
