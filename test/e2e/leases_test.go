// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
)

// running counts the goroutines that run informers.
func running() (n int) {
	buf := make([]byte, 1<<20)
	for len(buf) == goruntime.Stack(buf, true) {
		buf = make([]byte, 2*len(buf))
	}
	for _, stack := range strings.Split(string(buf[:goruntime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "informer-gen/informer-gen/runtime/") {
			n++
		}
	}
	return n
}

// awaitRunning waits until informers have n goroutines. Only tests that are not parallel can do
// that.
func awaitRunning(t *testing.T, what string, n int) {
	t.Helper()
	eventually(t, func() error {
		if got := running(); got != n {
			return fmt.Errorf("%s: %d goroutines of informers, want %d", what, got, n)
		}
		return nil
	})
}

// steadily returns how many goroutines informers have, once look after look finds the same number.
func steadily(t *testing.T) (n int) {
	t.Helper()
	same := 0
	eventually(t, func() error {
		last := n
		if n = running(); n != last {
			same = 0
		}
		if same++; same < 50 {
			return fmt.Errorf("%d goroutines of informers, %d before that", n, last)
		}
		return nil
	})
	return n
}

// An informer runs for as long as a lease is held, and again for the next lease. The test is not
// parallel: it counts goroutines.
func TestInformerRunsWhileALeaseIsHeld(t *testing.T) {
	ns := shared.crates(t)
	ns.createMany(t, 3)
	before := goleak.IgnoreCurrent()
	t.Run("ended", func(t *testing.T) {
		p := newProxy(t, shared.url, nil)
		_, i := crateInformer(t, p.url, ns)
		h, _ := listen(t, i)
		acquire := func(ctx context.Context) *informer.Lease {
			t.Helper()
			l, err := i.Acquire(logged(ctx, t))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		release := func(l *informer.Lease) {
			t.Helper()
			if err := l.Release(deadline(t)); err != nil {
				t.Fatal(err)
			}
		}
		first := acquire(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		second := acquire(ctx)
		if err := i.WaitForCacheSync(deadline(t)); err != nil {
			t.Fatal(err)
		}
		agree(t, ns.state(t), h, i.Store())
		release(first)
		release(first)
		ns.load(t, "crate-000", 1)
		h.awaitLine("update crate-000")

		last := ns.state(t)
		cancel()
		release(second) // which waits for the end that the context has begun
		awaitRunning(t, "after the last lease", 0)
		ns.load(t, "crate-000", 2)
		ns.delete(t, "crate-001")
		agree(t, last, h, i.Store())
		if s := i.Status(); s.Running || !s.Synced || len(s.Handlers) != 1 {
			t.Errorf("between the leases: %v", s)
		}

		ns.settle(t)
		third := acquire(t.Context())
		agree(t, ns.state(t), h, i.Store())
		if got := fmt.Sprint(h.told()[4:]); got != "[update crate-000 delete crate-001 unseen]" && got != "[delete crate-001 unseen update crate-000]" {
			t.Errorf("callbacks after the second start: %s", got)
		}
		// One that takes over before the other lets go.
		fourth := acquire(t.Context())
		release(third)
		ns.load(t, "crate-002", 3)
		h.awaitLine("update crate-002")
		release(fourth)
		awaitRunning(t, "at the end", 0)
		if n := len(p.requests((*request).watchList)); n != 2 {
			t.Errorf("%d full states were read, want 2", n)
		}
		if _, err := i.Acquire(ctx); err == nil {
			t.Error("Acquire with a context that is done gives no error")
		}
	})
	if err := noneLeft(deadline(t), before); err != nil {
		t.Error(err)
	}
}

// One informer of a factory is stopped, another removed, and the third never notices. The test is
// not parallel: it counts goroutines.
func TestStopAndRemoveOne(t *testing.T) {
	some, others := shared.crates(t), shared.widgets(t)
	some.createMany(t, 3)
	others.createWidgets(t, 3)
	before := goleak.IgnoreCurrent()
	t.Run("ended", func(t *testing.T) {
		p := newProxy(t, shared.url, nil)
		f := factories.New(connect(t, p.url))
		stays := factories.For[*Crate](f, some.gvr, informer.WithNamespace(some.namespace))
		stops := factories.For[*v1alpha1.Widget](f, others.gvr, informer.WithNamespace(others.namespace))
		staysHistory, _ := listen(t, stays)
		runSynced(t, f)
		one := steadily(t)
		stopsHistory, _ := listen(t, stops)
		awaitRunning(t, "with one more handler", one+1)
		removed := factories.ForMetadata(f, others.gvr, informer.WithNamespace(others.namespace))
		removedHistory, _ := listen(t, removed)
		if err := f.Start(logged(t.Context(), t)); err != nil {
			t.Fatal(err)
		}
		if err := f.WaitForCacheSync(deadline(t)); err != nil {
			t.Fatal(err)
		}
		agree(t, others.state(t), stopsHistory, stops.Store())
		agree(t, others.state(t), removedHistory, removed.Store())
		all := steadily(t)

		if err := f.Remove(deadline(t), removed); err != nil {
			t.Fatal(err)
		}
		awaitRunning(t, "after the removal", one+1)
		if err := f.Stop(deadline(t), stops); err != nil {
			t.Fatal(err)
		}
		last := others.state(t)
		some.load(t, "crate-000", 1)
		staysHistory.awaitLine("update crate-000")
		others.patch(t, "widget-000", `{"spec":{"nodeName":"node-9"}}`)
		others.delete(t, "widget-001")
		agree(t, last, stopsHistory, stops.Store())
		agree(t, last, removedHistory, removed.Store())
		if err := f.WaitForCacheSync(deadline(t)); err != nil {
			t.Errorf("with one informer stopped: %v", err)
		}
		if err := f.Stop(deadline(t), stops); err != nil {
			t.Errorf("Stop once more: %v", err)
		}
		if err := f.Remove(deadline(t), removed); err == nil {
			t.Error("Remove once more gives no error")
		}

		anew := factories.ForMetadata(f, others.gvr, informer.WithNamespace(others.namespace))
		if anew == removed {
			t.Error("the removed informer is still the factory's")
		}
		anewHistory, _ := listen(t, anew)
		if err := f.Start(logged(t.Context(), t)); err != nil {
			t.Fatal(err)
		}
		agree(t, others.state(t), stopsHistory, stops.Store())
		agree(t, others.state(t), anewHistory, anew.Store())
		agree(t, last, removedHistory, removed.Store())
		awaitRunning(t, "with the new one", all)
		if n := len(p.requests(func(r *request) bool { return r.of(some) })); n != 1 {
			t.Errorf("%d requests of the informer that stays, want 1", n)
		}

		// A lease of another owner outlives the factory's.
		lease, err := stops.Acquire(logged(t.Context(), t))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Stop(deadline(t), stops); err != nil {
			t.Fatal(err)
		}
		if err := f.Shutdown(deadline(t)); err != nil {
			t.Fatal(err)
		}
		others.patch(t, "widget-002", `{"spec":{"nodeName":"node-8"}}`)
		agree(t, others.state(t), stopsHistory, stops.Store())
		if err := lease.Release(deadline(t)); err != nil {
			t.Fatal(err)
		}
		awaitRunning(t, "at the end", 0)
	})
	if err := noneLeft(deadline(t), before); err != nil {
		t.Error(err)
	}
}

// Many leases come and go while objects change: the holder of a lease has an informer that runs,
// and the handler's history makes sense from the first start to the last.
func TestLeasesUnderLoad(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			ns.createMany(t, 5)
			_, i := crateInformer(t, shared.url, ns, opts...)
			h, _ := listen(t, i)
			ctx := logged(deadline(t), t)
			const users, visits = 4, 8
			ended := make(chan error, users)
			for user := range users {
				go func() { ended <- visit(ctx, ns, i, fmt.Sprint("user-", user), visits) }()
			}
			for n := range int64(30) {
				ns.load(t, fmt.Sprintf("crate-%03d", n%5), n+1)
			}
			for range users {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			if s := i.Status(); s.Running {
				t.Errorf("after the last lease: %v", s)
			}
			last, err := i.Acquire(ctx)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, ns.state(t), h, i.Store())
			if err := last.Release(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// visit acquires an informer, sees an object of its own come into the store, and releases, again
// and again. Every other time the lease ends with its context.
func visit(ctx context.Context, ns in, i *informer.SharedIndexInformer[*Crate], name string, times int) error {
	for n := range times {
		visit, leave := context.WithCancel(ctx)
		defer leave()
		lease, err := i.Acquire(visit)
		if err != nil {
			return err
		}
		if err := ns.readWrites(ctx, i, fmt.Sprint(name, "-", n), 1); err != nil {
			return err
		}
		if n%2 == 0 {
			leave()
		}
		if err := lease.Release(ctx); err != nil {
			return err
		}
	}
	return nil
}
