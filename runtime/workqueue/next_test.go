// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
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
