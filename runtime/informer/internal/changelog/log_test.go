// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"runtime"
	"testing"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
)

// TestCursorsReadEverythingInOrder has a cursor from the beginning of the log, and a later one.
func TestCursorsReadEverythingInOrder(t *testing.T) {
	l := New()
	first := l.End()
	if c, _ := first.Next(); c != nil || first.Passed() != 0 {
		t.Errorf("Next() in an empty log = %+v, Passed() = %d", c, first.Passed())
	}
	l.Append([]Change{{Type: deltafifo.Added, New: state("a", "1")}, {Type: deltafifo.Added, New: state("b", "2")}}, 5)
	second := l.End()
	l.Append([]Change{{Type: deltafifo.Deleted, Old: state("a", "3")}}, 7)
	read := func(c Cursor) (text string) {
		for {
			change, at := c.Next()
			if change == nil {
				if c.Passed() != l.Len() {
					t.Errorf("Passed() = %d at the end, want %d", c.Passed(), l.Len())
				}
				return text
			}
			if want := map[string]int64{"1": 5, "2": 5, "3": 7}[version(change)]; int64(at) != want {
				t.Errorf("%s was published at %d, want %d", version(change), at, want)
			}
			text += version(change)
			c.Pass()
		}
	}
	if a, b := read(first), read(second); a != "123" || b != "3" {
		t.Errorf("the cursors have read %s and %s, want 123 and 3", a, b)
	}
}

func version(c *Change) string {
	if c.New != nil {
		return c.New.GetResourceVersion()
	}
	return c.Old.GetResourceVersion()
}

// TestCursorReleasesPassedBatches shows that a cursor at the end of the log does not keep the last
// batch alive.
func TestCursorReleasesPassedBatches(t *testing.T) {
	l := New()
	c := l.End()
	last := func() weak.Pointer[metav1.PartialObjectMetadata] {
		obj := state("a", "1")
		l.Append([]Change{{Type: deltafifo.Added, New: obj}}, 0)
		return weak.Make(obj)
	}()
	runtime.GC()
	if last.Value() == nil {
		t.Fatal("a batch ahead of the cursor was freed")
	}
	c.Pass()
	runtime.GC()
	if last.Value() != nil {
		t.Error("a passed batch is kept alive")
	}
	runtime.KeepAlive(&c)
	runtime.KeepAlive(&l)
}
