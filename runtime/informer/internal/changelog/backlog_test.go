// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"runtime"
	"testing"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
)

func state(name, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

// TestBacklogKeepsNoBatchAlive shows that a change in the backlog doesn't keep its batch alive.
// Otherwise a backlog of few keys could hold all changes.
func TestBacklogKeepsNoBatchAlive(t *testing.T) {
	var b Backlog
	fill := func() weak.Pointer[metav1.PartialObjectMetadata] {
		other := state("b", "1")
		batch := []Change{{Type: deltafifo.Deleted, Old: state("a", "1")}, {Type: deltafifo.Modified, Old: other, New: state("b", "2")}}
		b.Add(&batch[0], 0)
		return weak.Make(other)
	}
	other := fill()
	runtime.GC()
	if other.Value() != nil {
		t.Error("the deletion of a keeps a state of b alive")
	}
	if c, ok := b.Next(); !ok || c.Type != deltafifo.Deleted || c.Old.GetName() != "a" {
		t.Errorf("Next() = %+v, want the deletion of a", c)
	}
}

// TestBacklogOfEveryDeletion shows that the waiting deletions of a key don't keep a delivered one
// alive.
func TestBacklogOfEveryDeletion(t *testing.T) {
	b := Backlog{EveryDeletion: true}
	fill := func() weak.Pointer[metav1.PartialObjectMetadata] {
		first := state("a", "1")
		b.Add(&Change{Type: deltafifo.Deleted, Old: first}, 0)
		b.Add(&Change{Type: deltafifo.Added, New: state("a", "2")}, 0)
		b.Add(&Change{Type: deltafifo.Deleted, Old: state("a", "3")}, 0)
		return weak.Make(first)
	}
	first := fill()
	if n := b.Len(); n != 2 {
		t.Errorf("Len() = %d, want 2", n)
	}
	b.Next()
	runtime.GC()
	if first.Value() != nil {
		t.Error("the first deletion is kept alive")
	}
	if c, ok := b.Next(); !ok || c.Type != deltafifo.Deleted || c.Old.GetResourceVersion() != "3" || b.Len() != 0 {
		t.Errorf("Next() = %+v, want the deletion at version 3", c)
	}
}
