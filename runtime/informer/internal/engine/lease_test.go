// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
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

// runs reports whether the informer runs: then it has the handler's goroutine wait for news.
func (r *rig) runs(want bool) {
	r.t.Helper()
	synctest.Wait()
	if got := r.Claimed(); got != want {
		r.t.Errorf("running %v, want %v", got, want)
	}
}

// TestALeaseSyncsInItsOwnRun: what an earlier run has read does not count, and what the present one
// had read before does.
func TestALeaseSyncsInItsOwnRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		first := r.acquire(t.Context())
		r.feedTo(0, "[ =a@1 ]@1")
		if first.HasSynced() {
			t.Error("synced with one of two streams")
		}
		r.feedTo(1, "[ ]@1")
		second := r.acquire(t.Context())
		if !first.HasSynced() || !second.HasSynced() {
			t.Error("not synced with both streams")
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
		r.feedTo(1, "[ =x@2") // and no end
		if !r.HasSynced() || third.HasSynced() || len(waited) > 0 {
			t.Error("a run has synced with what another one had read")
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

// TestAcquireWhileTheLastRunEnds waits for nothing, and leads to a run after the other one.
func TestAcquireWhileTheLastRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, g := record(t), newGate()
		h.before = g.wait
		r.add(h, lately)
		l := r.acquire(t.Context())
		r.feed("[ =a@1 ]@1")
		released := make(chan error, 1)
		go func() { released <- l.Release(t.Context()) }()
		synctest.Wait()
		next, another := r.acquire(t.Context()), r.acquire(t.Context())
		if err := r.Run(t.Context()); err != ErrRunning {
			t.Errorf("Run: %v", err)
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
		h.sees("=a@1 +b@2")
		r.release(next)
		r.runs(true)
		r.release(another)
		r.runs(false)

		// One that is released before it has begun ends with the one before it.
		g2 := h.hold()
		l = r.acquire(t.Context())
		r.feed("[ ]@3")
		go func() { released <- l.Release(t.Context()) }()
		synctest.Wait()
		next = r.acquire(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := next.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Release while a callback of the run before runs: %v", err)
		}
		g2.open()
		r.release(next)
		<-released
		r.runs(false)
	})
}

// TestPromise09ReleaseEndsAtItsDeadline has a callback that does not return.
func TestPromise09ReleaseEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, g := record(t), newGate()
		h.before = g.wait
		r.add(h, lately)
		l := r.acquire(t.Context())
		r.feed("[ =a@1 ]@1")
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := l.Release(ctx)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("Release took %v", took)
		}
		want := `informer things: Release: context deadline exceeded: things: handler "recorder" has not returned from OnAdd of ns/a for 1m0s`
		if err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v\nwant %s", err, want)
		}
		g.open()
		r.release(l)
	})
}

func TestErrorsOfLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if _, err := r.Acquire(noContext); err == nil || err.Error() != "informer things: Acquire: the context is nil" {
			t.Errorf("got %v", err)
		}
		if _, err := Broken("things", errStop).Acquire(t.Context()); err != errStop {
			t.Errorf("Acquire of a broken informer: %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		if _, err := r.Acquire(ctx); !errors.Is(err, errStop) {
			t.Errorf("Acquire with a context that is done: %v", err)
		}
		l := r.acquire(t.Context())
		if err := l.Release(noContext); err == nil || err.Error() != "informer things: Release: the context is nil" {
			t.Errorf("got %v", err)
		}
		r.runs(true)
		other := r.acquire(t.Context())
		broken := errors.New("broken")
		r.reader.steps <- func(*intake.Sink) error { return broken }
		<-l.Done() // the run has failed
		<-other.Done()
		if l.cause != broken || other.cause != broken {
			t.Errorf("the leases ended because of %v and %v", l.cause, other.cause)
		}
		r.release(l)
		r.runs(false)
	})
}

// TestRunHasTheValuesOfTheFirstContext shows it by the logger.
func TestRunHasTheValuesOfTheFirstContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := record(t)
		h.before = func(string) { panic("oops") }
		r.add(h, lately)
		var logs [2]strings.Builder
		var leases []*Lease
		for n := range logs {
			logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logs[n])))
			leases = append(leases, r.acquire(klog.NewContext(t.Context(), logger)))
		}
		r.release(leases[0])
		r.feed("[ =a@1 ]@1")
		if !strings.Contains(logs[0].String(), "oops") || logs[1].Len() > 0 {
			t.Errorf("logged %q and %q", &logs[0], &logs[1])
		}
		r.release(leases[1])
	})
}
