// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func TestExponentialDoublesUpToItsCap(t *testing.T) {
	for name, test := range map[string]struct {
		limiter  workqueue.Exponential
		failures int
		random   float64
		want     time.Duration
	}{
		"first":                     {workqueue.Exponential{Base: ms, Max: time.Second}, 1, 0, ms},
		"second":                    {workqueue.Exponential{Base: ms, Max: time.Second}, 2, 0, 2 * ms},
		"tenth":                     {workqueue.Exponential{Base: ms, Max: time.Second}, 10, 0, 512 * ms},
		"capped":                    {workqueue.Exponential{Base: ms, Max: time.Second}, 11, 0, time.Second},
		"cap is not a power of two": {workqueue.Exponential{Base: 3 * ms, Max: 10 * ms}, 3, 0, 10 * ms},
		"no overflow":               {workqueue.Exponential{Base: ms, Max: math.MaxInt64}, 255, 0, math.MaxInt64},
		"no cap":                    {workqueue.Exponential{Base: ms}, 9, 0, ms},
		"cap below base":            {workqueue.Exponential{Base: ms, Max: ms / 2}, 9, 0, ms},
		"negative":                  {workqueue.Exponential{Base: -ms, Max: -ms}, 9, 0, 0},
		"the least jitter":          {workqueue.Exponential{Base: time.Second, Jitter: 0.1}, 1, 0, time.Second},
		"jitter makes it shorter":   {workqueue.Exponential{Base: time.Second, Jitter: 0.1}, 1, 0.5, 950 * ms},
		"a jitter of more than one": {workqueue.Exponential{Base: time.Second, Jitter: 7}, 1, 0.5, 500 * ms},
	} {
		if got := test.limiter.DelayAfter(test.failures, test.random); got != test.want {
			t.Errorf("%s: delay %v, want %v", name, got, test.want)
		}
	}
}

func TestFailuresAreCountedTo255(t *testing.T) {
	opts := workqueue.Options{Limiter: workqueue.Exponential{Base: -1}, RetryRate: -1}
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
			t.Errorf("Status().Failing = %d, want 1", s.Failing)
		}
	})
}

// TestRetriesOfManyKeysArePaced: the last of 10,000 keys that fail at once waits for 90 s, or for
// none if the others have events. With client-go's defaults it waits for 16.5 minutes in both
// cases.
func TestRetriesOfManyKeysArePaced(t *testing.T) {
	for events, want := range map[bool]time.Duration{false: 90 * time.Second, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			k, keys := kit{workqueue.New[string](workqueue.Options{}), t, time.Now()}, 10_000
			for n := range keys {
				k.Add(fmt.Sprint(n))
			}
			for n := range keys {
				k.get(fmt.Sprint(n), 0).Done(failed)
			}
			for n := 0; events && n < keys-1; n++ { // all but one have an event
				k.AddWith(fmt.Sprint(n), at(workqueue.High))
			}
			for range keys {
				item, err := k.Get(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				item.Done(succeeded)
			}
			if last := time.Since(k.start).Round(time.Second); last != want {
				t.Errorf("the last of %d retries was after %v, want %v; the others have events: %v", keys, last, want, events)
			}
		})
	}
}

// TestLargeRetryBurst: the largest burst works with any rate.
func TestLargeRetryBurst(t *testing.T) {
	for _, rate := range []float64{100, 0.2, 0.001, 1e-12} {
		opts := exactDelays
		opts.RetryRate, opts.RetryBurst = rate, math.MaxInt
		inBubble(t, opts, func(k kit) {
			k.Add("a")
			k.get("a", 0).Done(failed)
			k.get("a", 10*ms).Done(succeeded)
		})
	}
}

// TestDroppedDelaysDoNotPileUp: a key delayed and added many times leaves no delays behind.
func TestDroppedDelaysDoNotPileUp(t *testing.T) {
	inBubble(t, exactDelays, func(k kit) {
		for n := range 100 {
			k.AddWith(fmt.Sprint("other ", n), after(time.Hour))
		}
		for range 10_000 {
			k.AddWith("a", after(365*24*time.Hour))
			k.Add("a")
			k.get("a", 0).Done(succeeded)
		}
		if n := k.Delays(); n > 250 {
			t.Errorf("%d delays in the heap for 100 keys, want at most 250", n)
		}
	})
}
