// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// The tests of package engine cover streams and runs; these cover internals of the fan-out.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type noopHandler struct{}

func (noopHandler) OnAdd(object.Object, bool)   {}
func (noopHandler) OnUpdate(_, _ object.Object) {}
func (noopHandler) OnDelete(Deleted)            {}

// additions returns n changes, of objects named from first on.
func additions(first, n int) (changes []changelog.Change) {
	for i := range n {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(first + i)}}
		changes = append(changes, changelog.Change{Type: added, New: obj})
	}
	return changes
}

func newFanout(t *testing.T) (*Fanout, *table.Version) {
	t.Helper()
	empty, err := table.New()
	if err != nil {
		t.Fatal(err)
	}
	version := empty.Version()
	return New(Config{Name: "things", Epoch: time.Now(), Synced: make(chan struct{}), Version: version}), version
}

// TestMergingIsDoneInBatches shows that mergeSome, which holds the lock, merges mergeBatch changes.
func TestMergingIsDoneInBatches(t *testing.T) {
	f, version := newFanout(t)
	s := f.Add(noopHandler{}, HandlerConfig{Threshold: 1024})
	const changes = 10 * mergeBatch
	s.flow.slow = true
	wait := f.Publish(Publication{Version: version, Changes: additions(0, changes)})
	if wait == nil || s.backlog.Len() != 0 {
		t.Fatalf("Publish has merged %d changes, want 0", s.backlog.Len())
	}
	if again := s.mergeSome(changes); !again || s.backlog.Len() != mergeBatch {
		t.Errorf("mergeSome has merged %d changes, want %d", s.backlog.Len(), mergeBatch)
	}
	wait(nil)
	var n int
	for c, ok := s.backlog.Next(); ok; c, ok = s.backlog.Next() {
		if got := c.Key().Name; got != fmt.Sprint(n) {
			t.Errorf("change %d of the backlog is of %s, want %d", n, got, n)
		}
		n++
	}
	if n != changes {
		t.Errorf("the backlog has %d changes, want %d", n, changes)
	}
}

// TestPublishWaitsOnlyForHandlersAboveTheirThreshold has a handler at its threshold, and above it.
func TestPublishWaitsOnlyForHandlersAboveTheirThreshold(t *testing.T) {
	for _, test := range []struct {
		threshold, changes int
		waits              bool
	}{{200, 200, false}, {200, 201, true}, {0, 1, true}, {Never, 10_000, false}} {
		f, version := newFanout(t)
		s := f.Add(noopHandler{}, HandlerConfig{Threshold: test.threshold})
		if wait := f.Publish(Publication{Version: version, Changes: additions(0, test.changes)}); (wait != nil) != test.waits {
			t.Errorf("threshold %d, %d changes: Publish returned a wait: %v, want %v", test.threshold, test.changes, wait != nil, test.waits)
		}
		if got := s.Status(); got.Backlog != test.changes {
			t.Errorf("Status() = %+v, want a backlog of %d", got, test.changes)
		}
		s.Remove()
		if wait := f.Publish(Publication{Version: version, Changes: additions(test.changes, 1)}); wait != nil || len(f.Subscriptions()) != 0 {
			t.Error("Publish waits for a removed handler")
		}
	}
}

// TestWaitForOneHandlerTakesNoPatienceOfAnother has two handlers lag at one publication. The
// publisher waits for the first, which takes nothing, until its patience has run out. The second
// catches up meanwhile, and keeps its full patience.
func TestWaitForOneHandlerTakesNoPatienceOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, version := newFanout(t)
		stuck, other := f.Add(noopHandler{}, HandlerConfig{Threshold: 200}), f.Add(noopHandler{}, HandlerConfig{Threshold: 200})
		wait := f.Publish(Publication{Version: version, Changes: additions(0, 300)})
		began := time.Now()
		time.AfterFunc(patience/2, func() {
			other.mu.Lock()
			defer other.mu.Unlock()
			for _, more := other.nextLocked(); more; _, more = other.nextLocked() {
			}
			other.caughtUpLocked()
		})
		wait(nil)
		if took := time.Since(began); took != patience {
			t.Errorf("the publisher waited for %v, want %v", took, patience)
		}
		if !stuck.flow.slow || stuck.backlog.Len() != 300 {
			t.Errorf("the stuck handler: slow is %v, %d changes are merged; want true, 300", stuck.flow.slow, stuck.backlog.Len())
		}
		if other.flow.slow || other.flow.patience != patience {
			t.Errorf("the other handler: slow is %v, its patience is %v; want false, %v", other.flow.slow, other.flow.patience, patience)
		}
	})
}

// TestPublishWithoutChangesWakesNoHandler publishes a version without changes, as for a bookmark.
func TestPublishWithoutChangesWakesNoHandler(t *testing.T) {
	f, version := newFanout(t)
	s := f.Add(noopHandler{}, HandlerConfig{})
	if wait := f.Publish(Publication{Version: version}); wait != nil || len(s.wake) != 0 || f.logLen() != 0 {
		t.Errorf("Publish returned a wait: %v, tokens: %d, log length: %d; want none", wait != nil, len(s.wake), f.logLen())
	}
}
