// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// TestNextIsDoneAndGet: the item is done whatever comes of the rest.
func TestNextIsDoneAndGet(t *testing.T) {
	ctx := context.Background()
	inBubble(t, plain, func(k kit) {
		next := func(item workqueue.Item[string], outcome workqueue.Outcome, want string, after time.Duration) workqueue.Item[string] {
			t.Helper()
			next, err := k.Next(ctx, item, outcome)
			if took := time.Since(k.began); err != nil || next.Key != want || took != after {
				t.Fatalf("got %q, %v after %v, want %q after %v", next.Key, err, took, want, after)
			}
			return next
		}
		k.Add("a")
		a := next(workqueue.Item[string]{}, failed, "a", 0)
		k.Add("b")
		b := next(a, failed, "b", 0)
		again := next(b, succeeded, "a", 10*ms) // no key was ready: done before it waits
		if again.Failures != 1 {
			t.Errorf("%d failures", again.Failures)
		}
		k.Add("c")
		c := next(a, failed, "c", 10*ms) // a was done already
		if s, _ := k.StatusOf("a"); !s.Running {
			t.Error("a second Next has ended a later attempt")
		}
		errStop := errors.New("the test stops the worker")
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errStop)
		if _, err := k.Next(ended, c, failed); !errors.Is(err, errStop) {
			t.Errorf("with a context that is done: %v", err)
		}
		other := workqueue.New[string](workqueue.Options{})
		if item, err := other.Next(ended, again, succeeded); !errors.Is(err, errStop) || item.Key != "" {
			t.Errorf("with another queue's item: %v, %v", item, err)
		}
		if s := k.Status(); len(s.Running) != 0 || s.Delayed != 1 {
			t.Errorf("%d are running, %d delayed", len(s.Running), s.Delayed)
		}
		k.Add("d")
		d := next(workqueue.Item[string]{}, succeeded, "d", 10*ms)
		over := make(chan error)
		go func() { over <- k.ShutDown(ctx, workqueue.Drain) }()
		synctest.Wait()
		if _, err := k.Next(ctx, d, succeeded); !errors.Is(err, workqueue.ErrShutDown) {
			t.Errorf("at the end: %v", err)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// TestBriefWorkersStepAside: of two workers that meet at the lock all the time, one waits while the
// other one goes on, and no key waits long for it.
func TestBriefWorkersStepAside(t *testing.T) {
	const µs = time.Microsecond
	ctx := context.Background()
	get := func(t *testing.T, k kit) workqueue.Item[string] {
		t.Helper()
		item, err := k.Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return item
	}
	for _, test := range []struct {
		name   string
		before time.Duration // from the hand-out of its key to the other worker's
		after  time.Duration // from there to Next
		other  func(kit, workqueue.Item[string])
		waits  time.Duration
	}{
		{"the other one takes long", µs, µs, func(kit, workqueue.Item[string]) {}, 100 * µs},
		{"the other one goes on", µs, µs, func(k kit, item workqueue.Item[string]) {
			for range 50 {
				time.Sleep(µs)
				item, _ = k.Next(ctx, item, succeeded)
				k.Add(strconv.Itoa(int(item.Waited)))
			}
		}, 100 * µs},
		{"the other one is done", µs, µs, func(_ kit, item workqueue.Item[string]) {
			time.Sleep(10 * µs)
			item.Done(succeeded)
		}, 10 * µs},
		{"no other key was handed out meanwhile", 0, µs, func(kit, workqueue.Item[string]) {}, 0},
		{"it has worked for long", µs, 10 * µs, func(kit, workqueue.Item[string]) {}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, plain, func(k kit) {
				for n := range 100 {
					k.Add("key " + strconv.Itoa(n))
				}
				mine := get(t, k)
				time.Sleep(test.before)
				others := get(t, k)
				time.Sleep(test.after)
				start := time.Now()
				var wg sync.WaitGroup
				wg.Go(func() { test.other(k, others) })
				item, err := k.NextMet(ctx, mine, succeeded)
				if took := time.Since(start); err != nil || took != test.waits {
					t.Errorf("waited for %v, want %v; %v", took, test.waits, err)
				}
				if s, _ := k.StatusOf(mine.Key); s.Running {
					t.Error("its first key isn't done")
				}
				item.Done(succeeded)
				wg.Wait()
			})
		})
	}
}

// TestManyBriefWorkers: whoever steps aside, all keys go round.
func TestManyBriefWorkers(t *testing.T) {
	const workers, keys, rounds = 64, 100, 100_000
	q := workqueue.New[int](workqueue.Options{})
	var left atomic.Int64
	left.Store(rounds)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for key := range keys {
		q.Add(key)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			item, err := q.Get(ctx)
			for err == nil {
				q.Add(item.Key)
				if left.Add(-1) == 0 {
					cancel()
				}
				item, err = q.Next(ctx, item, workqueue.Outcome{})
			}
		})
	}
	wg.Wait()
	if err := q.Check(); err != nil {
		t.Error(err)
	}
	if s := q.Status(); len(s.Running) != 0 || q.Len() != keys {
		t.Errorf("%d keys are running, %d ready, want 0 and %d", len(s.Running), q.Len(), keys)
	}
}
