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

// The tests of the engine have streams and runs; these look at what one can't see from there.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type ignoring struct{}

func (ignoring) OnAdd(object.Object, bool)    {}
func (ignoring) OnUpdate(_, _ object.Object)  {}
func (ignoring) OnDelete(Deleted)             {}
func adds(n int) (changes []changelog.Change) { return addsFrom(0, n) }

func addsFrom(first, n int) (changes []changelog.Change) {
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

// TestMergingHoldsTheLockForAShortTime looks at what is merged at once while the lock is held.
func TestMergingHoldsTheLockForAShortTime(t *testing.T) {
	f, version := newFanout(t)
	s := f.Add(ignoring{}, HandlerConfig{Threshold: 1024})
	const changes = 10 * mergedAtOnce
	s.slow.slow = true
	wait := f.Publish(Publication{Version: version, Changes: adds(changes)})
	if wait == nil || s.backlog.Len() != 0 {
		t.Fatalf("%d merged while publishing", s.backlog.Len())
	}
	if again := s.mergeSome(changes); !again || s.backlog.Len() != mergedAtOnce {
		t.Errorf("%d merged at once, want %d", s.backlog.Len(), mergedAtOnce)
	}
	wait(nil)
	var n int
	for c, ok := s.backlog.Next(); ok; c, ok = s.backlog.Next() {
		if got := c.Key().Name; got != fmt.Sprint(n) {
			t.Errorf("%s is number %d", got, n)
		}
		n++
	}
	if n != changes {
		t.Errorf("%d changes were merged", n)
	}
}

// TestOnlyLaggardsAreLookedAt has handlers at their threshold and above it.
func TestOnlyLaggardsAreLookedAt(t *testing.T) {
	for _, test := range []struct {
		threshold, changes int
		waits              bool
	}{{200, 200, false}, {200, 201, true}, {0, 1, true}, {Never, 10_000, false}} {
		f, version := newFanout(t)
		s := f.Add(ignoring{}, HandlerConfig{Threshold: test.threshold})
		if wait := f.Publish(Publication{Version: version, Changes: adds(test.changes)}); (wait != nil) != test.waits {
			t.Errorf("threshold %d, %d changes: waits is %v", test.threshold, test.changes, wait != nil)
		}
		if got := s.Status(); got.Backlog != test.changes {
			t.Errorf("%+v", got)
		}
		s.Remove()
		if wait := f.Publish(Publication{Version: version, Changes: addsFrom(test.changes, 1)}); wait != nil || len(f.Subscriptions()) != 0 {
			t.Error("a removed handler is looked at")
		}
	}
}

// TestWaitingForOneCostsAnotherNothing has two handlers lag at one publication. One takes nothing,
// so it is waited for as long as it has patience; the other one catches up meanwhile.
func TestWaitingForOneCostsAnotherNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, version := newFanout(t)
		stuck, other := f.Add(ignoring{}, HandlerConfig{Threshold: 200}), f.Add(ignoring{}, HandlerConfig{Threshold: 200})
		wait := f.Publish(Publication{Version: version, Changes: adds(300)})
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
			t.Errorf("waited for %v", took)
		}
		if !stuck.slow.slow || stuck.backlog.Len() != 300 {
			t.Errorf("the one that takes nothing: slow is %v, %d are merged", stuck.slow.slow, stuck.backlog.Len())
		}
		if other.slow.slow || other.slow.patience != patience {
			t.Errorf("the other one: slow is %v, its patience is %v", other.slow.slow, other.slow.patience)
		}
	})
}

// TestAVersionWithoutChangesIsNotLogged publishes a version without changes, as for a bookmark.
func TestAVersionWithoutChangesIsNotLogged(t *testing.T) {
	f, version := newFanout(t)
	s := f.Add(ignoring{}, HandlerConfig{})
	if wait := f.Publish(Publication{Version: version}); wait != nil || len(s.wake) != 0 || f.logged() != 0 {
		t.Error("the handler is woken for nothing")
	}
}
