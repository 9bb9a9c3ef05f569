// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"math"
	"math/rand/v2"
	"testing"
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
