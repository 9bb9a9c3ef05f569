// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func TestAFailedKeyIsRetriedLaterAndLater(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		var at time.Duration
		for n, wait := range []time.Duration{0, 10 * ms, 20 * ms, 40 * ms, 80 * ms} {
			at += wait
			item := k.get("a", at)
			if item.Failures != n {
				t.Errorf("%d failures, want %d", item.Failures, n)
			}
			item.Done(failed)
		}
		k.get("a", at+160*ms).Done(succeeded)
		k.wantIdle()
		k.Add("a")
		if item := k.get("a", at+160*ms); item.Failures != 0 {
			t.Errorf("%d failures after a success", item.Failures)
		}
	})
}

func TestForgetForgetsFailuresAndNotTheRetry(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		k.get("a", 0).Done(failed)
		k.get("a", 10*ms).Done(failed)
		k.Forget("a")
		k.Forget("unknown")
		item := k.get("a", 30*ms)
		if item.Failures != 0 {
			t.Errorf("%d failures", item.Failures)
		}
		item.Done(failed)
		item = k.get("a", 40*ms)
		k.Forget("a")
		item.Done(failed)
		if item = k.get("a", 50*ms); item.Failures != 1 {
			t.Errorf("%d failures, want the last one", item.Failures)
		}
	})
}

// TestAFailedKeyThatIsAddedIsReadyAtOnce: but not sooner than the base delay after its last
// attempt.
func TestAFailedKeyThatIsAddedIsReadyAtOnce(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		at := time.Duration(0)
		for range 5 {
			k.get("a", at).Done(failed)
			k.Add("a")
			at += 10 * ms // and not 20, 40 and so on
		}
		item := k.get("a", at)
		if item.Failures != 5 {
			t.Errorf("%d failures", item.Failures)
		}
		item.Done(failed)
		time.Sleep(50 * ms) // longer than the base delay
		k.Add("a")
		item = k.get("a", at+50*ms)
		k.Add("a") // while it runs
		time.Sleep(5 * ms)
		item.Done(failed)
		item = k.get("a", at+65*ms)
		item.Done(failed)
		k.AddWith("a", after(3*ms))
		item = k.get("a", at+75*ms)
		k.AddWith("a", after(3*ms)) // while it runs
		item.Done(failed)
		k.get("a", at+85*ms).Done(succeeded)
		k.wantIdle()
	})
}

// TestAfterTogetherWithAFailure: the failure counts, and the key comes at the earlier time.
func TestAfterTogetherWithAFailure(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		k.get("a", 0).Done(workqueue.Outcome{Failed: true, After: time.Hour})
		item := k.get("a", 10*ms)
		if item.Failures != 1 {
			t.Errorf("%d failures", item.Failures)
		}
		item.Done(workqueue.Outcome{Failed: true, After: 15 * ms}) // the limiter's is 20 ms
		item = k.get("a", 25*ms)
		item.Done(workqueue.Outcome{Failed: true, After: ms}) // less than the base delay
		if item = k.get("a", 35*ms); item.Failures != 3 {
			t.Errorf("%d failures", item.Failures)
		}
		item.Done(workqueue.Outcome{After: time.Second})
		if s, _ := k.StatusOf("a"); s.Failures != 0 {
			t.Errorf("%d failures after a success", s.Failures)
		}
	})
}

func TestFailuresAreCountedTo255(t *testing.T) {
	opts := workqueue.Options{Limiter: workqueue.Exponential{}, RetryRate: -1}
	inBubble(t, opts, func(k kit) {
		k.Add("a")
		for n := range 300 {
			item := k.get("a", 0)
			if item.Failures != min(n, 255) {
				t.Fatalf("%d failures, want %d", item.Failures, min(n, 255))
			}
			item.Done(failed)
		}
		if s := k.Status(); s.Failing != 1 {
			t.Errorf("%d keys are failing", s.Failing)
		}
	})
}

// TestRetriesArePaced: those of all keys together, when they are due; other keys go before them.
func TestRetriesArePaced(t *testing.T) {
	opts := plain
	opts.RetryRate, opts.RetryBurst = 10, 2
	inBubble(t, opts, func(k kit) {
		const keys = 5
		for n := range keys {
			k.Add(fmt.Sprint(n))
		}
		for n := range keys {
			k.get(fmt.Sprint(n), 0).Done(failed)
		}
		time.Sleep(20 * ms) // all are due
		k.Add("new")
		if s := k.Status(); s.Paced != 3 || s.Delayed != 0 || s.Failing != 5 {
			t.Errorf("got %+v", s)
		}
		k.get("0", 20*ms).Done(succeeded)
		k.get("1", 20*ms).Done(succeeded)
		k.get("new", 20*ms).Done(succeeded)
		if s, _ := k.StatusOf("3"); !s.Paced || s.Failures != 1 || s.Ready {
			t.Errorf("got %+v", s)
		}
		k.Add("3") // an event needs no turn
		k.get("3", 20*ms).Done(succeeded)
		k.get("2", 120*ms).Done(succeeded)
		k.get("4", 220*ms).Done(succeeded)
		k.wantIdle()
	})
}

// A key whose failures are forgotten while it waits for its turn is ready as soon as it is added.
func TestForgetWhilePaced(t *testing.T) {
	opts := plain
	opts.Limiter = workqueue.Exponential{Base: 10 * ms, Max: 10 * ms, Jitter: 0.999}
	opts.RetryRate, opts.RetryBurst = 1, 1
	inBubble(t, opts, func(k kit) {
		keys := []string{"a", "b"}
		for _, key := range keys {
			k.Add(key)
			k.get(key, 0).Done(failed)
		}
		isPaced := func(key string) bool { s, _ := k.StatusOf(key); return s.Paced }
		// The earlier one has the only turn. The other one's delay, too, ends before Base has
		// passed.
		for k.Status().Paced == 0 {
			time.Sleep(ms / 1000)
		}
		key := keys[slices.IndexFunc(keys, isPaced)]
		k.Forget(key)
		k.Add(key)
		if s, _ := k.StatusOf(key); !s.Ready {
			t.Errorf("got %+v", s)
		}
	})
}

// The retries of many keys that fail at once are spread over the number of keys by the rate. With
// client-go's defaults the last of 10,000 waits for 16.5 minutes, whatever becomes of the others.
func TestManyFirstFailures(t *testing.T) {
	lastRetry := func(opts func() workqueue.Options, keys int, gone bool) (last time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			k := kit{workqueue.New[string](opts()), t, time.Now()}
			for n := range keys {
				k.Add(fmt.Sprint(n))
			}
			for n := range keys {
				k.get(fmt.Sprint(n), 0).Done(failed)
			}
			for n := 0; gone && n < keys-1; n++ {
				k.AddWith(fmt.Sprint(n), workqueue.AddOptions{Level: workqueue.High})
			}
			for range keys {
				item, err := k.Get(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				item.Done(succeeded)
			}
			last = time.Since(k.began).Round(time.Second)
		})
		return last
	}
	defaults := func() workqueue.Options { return workqueue.Options{} }
	if got, want := lastRetry(defaults, 10_000, false), 90*time.Second; got != want {
		t.Errorf("the last of 10,000 retries comes after %v, want %v", got, want)
	}
	if got := lastRetry(defaults, 10_000, true); got > time.Second {
		t.Errorf("the only one of 10,000 keys that has no event comes after %v", got)
	}
}

// TestABurstMayBeAsLargeAsWanted: together with a low rate, too.
func TestABurstMayBeAsLargeAsWanted(t *testing.T) {
	for _, rate := range []float64{100, 0.2, 0.001, 1e-12} {
		opts := plain
		opts.RetryRate, opts.RetryBurst = rate, math.MaxInt
		inBubble(t, opts, func(k kit) {
			k.Add("a")
			k.get("a", 0).Done(failed)
			k.get("a", 10*ms).Done(succeeded)
		})
	}
}

// panicky is a Limiter that panics the first time.
type panicky struct{ calls *int }

func (p panicky) Delay(int, float64) time.Duration {
	if *p.calls++; *p.calls == 1 {
		panic("a mistake")
	}
	return 10 * ms
}

func (p panicky) Least() time.Duration { return 0 }

// TestAPanicOfTheLimiterLocksNothing has a worker that recovers. The item is not done then.
func TestAPanicOfTheLimiterLocksNothing(t *testing.T) {
	inBubble(t, workqueue.Options{Limiter: panicky{new(int)}, RetryRate: -1}, func(k kit) {
		k.Add("a")
		item := k.get("a", 0)
		func() {
			defer func() {
				if v := recover(); v != "a mistake" {
					t.Errorf("recovered %v", v)
				}
			}()
			item.Done(failed)
		}()
		k.Add("b")
		k.get("b", 0).Done(succeeded)
		if s, _ := k.StatusOf("a"); !s.Running || s.Failures != 0 {
			t.Errorf("the key whose outcome is unknown: %+v", s)
		}
		item.Done(failed)
		k.get("a", 10*ms).Done(succeeded)
		if err := k.Check(); err != nil {
			t.Error(err)
		}
		k.wantIdle()
	})
}
