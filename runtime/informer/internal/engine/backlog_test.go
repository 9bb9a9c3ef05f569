// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"testing"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBacklogKeepsNoBatchAlive shows that an event in the backlog doesn't keep alive the others
// that were published with it. Otherwise a backlog of few keys could hold all events.
func TestBacklogKeepsNoBatchAlive(t *testing.T) {
	var b backlog
	fill := func() weak.Pointer[metav1.PartialObjectMetadata] {
		other := thing("b@1")
		batch := []change{{typ: deleted, old: thing("a@1")}, {typ: modified, old: other, new: thing("b@2")}}
		b.add(&batch[0], 0)
		return weak.Make(other)
	}
	other := fill()
	runtime.GC()
	if other.Value() != nil {
		t.Error("the deletion of a keeps a state of b alive")
	}
	if c, ok := b.next(); !ok || c.typ != deleted || show(c.old) != "a@1" {
		t.Errorf("got %+v", c)
	}
}
