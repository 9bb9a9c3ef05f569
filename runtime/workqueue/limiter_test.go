// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func TestExponentialDoublesUpToItsCap(t *testing.T) {
	for _, tc := range []struct {
		name     string
		limiter  workqueue.Exponential
		failures int
		want     time.Duration
	}{
		{"first", workqueue.Exponential{Base: ms, Max: time.Second}, 1, ms},
		{"second", workqueue.Exponential{Base: ms, Max: time.Second}, 2, 2 * ms},
		{"tenth", workqueue.Exponential{Base: ms, Max: time.Second}, 10, 512 * ms},
		{"capped", workqueue.Exponential{Base: ms, Max: time.Second}, 11, time.Second},
		{"cap is no power of two", workqueue.Exponential{Base: 3 * ms, Max: 10 * ms}, 3, 10 * ms},
		{"no overflow", workqueue.Exponential{Base: ms, Max: math.MaxInt64}, 255, math.MaxInt64},
		{"no cap", workqueue.Exponential{Base: ms}, 9, ms},
		{"cap below base", workqueue.Exponential{Base: ms, Max: ms / 2}, 9, ms},
		{"zero", workqueue.Exponential{}, 9, 0},
		{"negative", workqueue.Exponential{Base: -ms, Max: -ms}, 9, 0},
	} {
		if got := tc.limiter.Delay(tc.failures, 0); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestJitterMakesDelaysShorter(t *testing.T) {
	limiter := workqueue.Exponential{Base: 10 * time.Second, Max: time.Minute, Jitter: 0.1}
	random := rand.New(rand.NewPCG(1, 1))
	least, most := time.Hour, time.Duration(0)
	for range 1000 {
		d := limiter.Delay(1, random.Float64())
		least, most = min(least, d), max(most, d)
	}
	if least < 9*time.Second || least > 9010*ms || most > 10*time.Second || most < 9990*ms {
		t.Errorf("delays are between %v and %v", least, most)
	}
	if d := (workqueue.Exponential{Base: time.Second, Max: time.Second, Jitter: 7}).Delay(1, 0.99); d < 0 || d > time.Second {
		t.Errorf("a jitter of more than 1: %v", d)
	}
}

// TestTheSeedDecidesDelays: with one seed two queues do the same.
func TestTheSeedDecidesDelays(t *testing.T) {
	retryAt := func(seed uint64) (at time.Duration) {
		inBubble(t, workqueue.Options{Seed: seed}, func(k kit) {
			for range 3 {
				k.Add("a")
				item, err := k.Get(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				item.Done(failed)
			}
			s, _ := k.StatusOf("a")
			at = s.Due.Sub(k.began)
		})
		return at
	}
	if a, b, c := retryAt(1), retryAt(1), retryAt(2); a != b || a == c {
		t.Errorf("got %v and %v of one seed, %v of another", a, b, c)
	}
}

func TestFastSlow(t *testing.T) {
	limiter := workqueue.FastSlow{Fast: ms, Slow: time.Minute, Tries: 3}
	for failures, want := range map[int]time.Duration{1: ms, 3: ms, 4: time.Minute, 255: time.Minute} {
		if got := limiter.Delay(failures, 0.5); got != want {
			t.Errorf("%d failures: %v, want %v", failures, got, want)
		}
	}
	if limiter.Least() != ms {
		t.Errorf("Least = %v", limiter.Least())
	}
}

func TestBucketReservesTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := workqueue.Bucket(10, 2)
		want := func(want ...time.Duration) {
			t.Helper()
			for n, want := range want {
				if got := limiter.Delay(1, 0); got != want {
					t.Errorf("call %d: %v, want %v", n, got, want)
				}
			}
		}
		want(0, 0, 100*ms, 200*ms)
		time.Sleep(time.Hour)
		want(0, 0, 100*ms)
		if got := workqueue.Bucket(0, 0).Delay(1, 0); got != 0 {
			t.Errorf("without a rate: %v", got)
		}
	})
}

func TestMaxOfTakesTheLongest(t *testing.T) {
	limiter := workqueue.MaxOf(
		workqueue.FastSlow{Fast: ms, Slow: time.Minute, Tries: 1},
		workqueue.Exponential{Base: 10 * ms, Max: time.Second},
	)
	for failures, want := range map[int]time.Duration{1: 10 * ms, 2: time.Minute} {
		if got := limiter.Delay(failures, 0); got != want {
			t.Errorf("%d failures: %v, want %v", failures, got, want)
		}
	}
	if limiter.Least() != 10*ms || workqueue.MaxOf().Delay(1, 0) != 0 {
		t.Errorf("Least = %v, the longest of none %v", limiter.Least(), workqueue.MaxOf().Delay(1, 0))
	}
}
