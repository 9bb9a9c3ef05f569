// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
)

func (r *rig) acquire(ctx context.Context) *Lease {
	r.t.Helper()
	l, err := r.Acquire(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
	return l
}

func (r *rig) release(l *Lease) {
	r.t.Helper()
	if err := l.Release(r.t.Context()); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) wantRunning(want bool) {
	r.t.Helper()
	synctest.Wait()
	if got := r.Running(); got != want {
		r.t.Errorf("Running() = %v, want %v", got, want)
	}
}

// TestLeaseSyncsInItsOwnRun shows that full states of earlier runs do not count for a lease, and
// that those of its run do, even if read before the lease began.
func TestLeaseSyncsInItsOwnRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		first := r.acquire(t.Context())
		r.feedTo(0, "[ =a@1 ]@1")
		if first.HasSynced() {
			t.Error("the lease has synced with one of two streams")
		}
		r.feedTo(1, "[ ]@1")
		second := r.acquire(t.Context())
		if !first.HasSynced() || !second.HasSynced() {
			t.Error("the leases have not synced with both streams")
		}
		r.release(first)
		r.release(second)

		third := r.acquire(t.Context())
		waited := make(chan error, 1)
		wait := func(ctx context.Context, l *Lease) error {
			return WaitForCacheSync(ctx, nil, Wait{Informer: r.Informer, Lease: l, Ended: l.Done()})
		}
		go func() { waited <- wait(t.Context(), third) }()
		r.feedTo(0, "[ =a@2 ]@2")
		r.feedTo(1, "[ =x@2") // incomplete
		if !r.HasSynced() || third.HasSynced() || len(waited) > 0 {
			t.Errorf("the informer has synced: %v, the lease: %v, its wait has ended: %v; want true, false, false", r.HasSynced(), third.HasSynced(), len(waited) > 0)
		}
		r.feedTo(1, "]@2")
		if err := <-waited; err != nil || !third.HasSynced() {
			t.Error(err)
		}
		r.release(third)

		fourth := r.acquire(t.Context())
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { waited <- wait(ctx, fourth) }()
		synctest.Wait()
		cancel(errStop)
		if err := <-waited; !errors.Is(err, errStop) || !strings.Contains(err.Error(), "2 of 2 streams") && !strings.Contains(err.Error(), "things in two is") {
			t.Errorf("the context is done: %v", err)
		}
		go func() { waited <- wait(t.Context(), fourth) }()
		synctest.Wait()
		r.release(fourth)
		if err := <-waited; err == nil || !strings.Contains(err.Error(), "things in one is") {
			t.Errorf("the lease was released: %v", err)
		}
	})
}

// TestAcquireWhileTheLastRunEnds shows that Acquire does not wait for the end of the last run, and
// that the next run follows it.
func TestAcquireWhileTheLastRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, g := newRecorder(t), newGate()
		h.before = g.wait
		r.add(h, handlerConfig)
		l := r.acquire(t.Context())
		r.feed("[ =a@1 ]@1")
		released := make(chan error, 1)
		go func() { released <- l.Release(t.Context()) }()
		synctest.Wait()
		next, another := r.acquire(t.Context()), r.acquire(t.Context())
		if err := r.Run(t.Context()); err != ErrRunning {
			t.Errorf("Run() = %v, want ErrRunning", err)
		}
		select {
		case r.reader.steps <- nil:
			t.Fatal("two runs at once")
		default:
		}
		g.open()
		if err := <-released; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		r.feed("[ =a@1 =b@2 ]@2")
		h.wantEvents("=a@1 +b@2")
		r.release(next)
		r.wantRunning(true)
		r.release(another)
		r.wantRunning(false)

		// A run whose lease is released before it begins ends with the previous run.
		g2 := h.hold()
		l = r.acquire(t.Context())
		r.feed("[ ]@3")
		go func() { released <- l.Release(t.Context()) }()
		synctest.Wait()
		next = r.acquire(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := next.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Release during a callback of the previous run: %v", err)
		}
		g2.open()
		r.release(next)
		<-released
		r.wantRunning(false)
	})
}

// TestPromise09ReleaseEndsAtItsDeadline releases a lease during a callback that does not return.
func TestPromise09ReleaseEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, g := newRecorder(t), newGate()
		h.before = g.wait
		r.add(h, handlerConfig)
		l := r.acquire(t.Context())
		r.feed("[ =a@1 ]@1")
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := l.Release(ctx)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("Release took %v, want a minute", took)
		}
		want := `informer things: Release: context deadline exceeded: things: handler "recorder" has not returned from OnAdd of ns/a for 1m0s`
		if err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v\nwant %s", err, want)
		}
		g.open()
		r.release(l)
	})
}

func TestLeaseErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if _, err := r.Acquire(noContext); err == nil || err.Error() != "informer things: Acquire: the context is nil" {
			t.Errorf("Acquire(nil) = %v", err)
		}
		if _, err := Broken("things", errStop).Acquire(t.Context()); err != errStop {
			t.Errorf("Acquire of a broken informer: %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		if _, err := r.Acquire(ctx); !errors.Is(err, errStop) {
			t.Errorf("Acquire with a done context: %v", err)
		}
		l := r.acquire(t.Context())
		if err := l.Release(noContext); err == nil || err.Error() != "informer things: Release: the context is nil" {
			t.Errorf("Release(nil) = %v", err)
		}
		r.wantRunning(true)
		other := r.acquire(t.Context())
		broken := errors.New("broken")
		r.reader.steps <- func(*intake.Sink) error { return broken }
		<-l.Done() // the run has failed
		<-other.Done()
		if l.cause != broken || other.cause != broken {
			t.Errorf("the causes of the leases are %v and %v, want %v", l.cause, other.cause, broken)
		}
		r.release(l)
		r.wantRunning(false)
	})
}

// TestRunHasTheValuesOfTheFirstContext shows that a run logs to the logger of the first lease's
// context, also after the end of that lease.
func TestRunHasTheValuesOfTheFirstContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		h.before = func(string) { panic("oops") }
		r.add(h, handlerConfig)
		var logs [2]strings.Builder
		var leases []*Lease
		for n := range logs {
			logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logs[n])))
			leases = append(leases, r.acquire(klog.NewContext(t.Context(), logger)))
		}
		r.release(leases[0])
		r.feed("[ =a@1 ]@1")
		if !strings.Contains(logs[0].String(), "oops") || logs[1].Len() > 0 {
			t.Errorf("logged %q and %q, want lines in the first log only", &logs[0], &logs[1])
		}
		r.release(leases[1])
	})
}
