// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"sync/atomic"
	"time"
)

// Buckets of a histogram grow by 5 %, from 10 µs to some minutes.
const (
	shortest = 10 * time.Microsecond
	growth   = 1.05
	buckets  = 360
)

// histogram counts durations. Any number of goroutines may add to it.
type histogram struct {
	counts  [buckets]atomic.Int64
	longest atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	n := 0
	if d > shortest {
		n = min(int(math.Log(float64(d)/float64(shortest))/math.Log(growth)), buckets-1)
	}
	h.counts[n].Add(1)
	for {
		longest := h.longest.Load()
		if int64(d) <= longest || h.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// lags is what a histogram has counted in some time.
type lags struct {
	counts  [buckets]int64
	total   int64
	longest time.Duration
}

// take returns what was counted since the last take.
func (h *histogram) take() lags {
	var l lags
	for n := range h.counts {
		l.counts[n] = h.counts[n].Swap(0)
		l.total += l.counts[n]
	}
	l.longest = time.Duration(h.longest.Swap(0))
	return l
}

func (l *lags) merge(other lags) {
	for n, count := range other.counts {
		l.counts[n] += count
	}
	l.total += other.total
	l.longest = max(l.longest, other.longest)
}

// percentile returns the duration that p percent do not exceed, up to 5 % too long; 0 if nothing
// was counted.
func (l *lags) percentile(p float64) time.Duration {
	rest := int64(math.Ceil(p / 100 * float64(l.total)))
	for n, count := range l.counts {
		if rest -= count; rest <= 0 && count > 0 {
			return min(time.Duration(float64(shortest)*math.Pow(growth, float64(n+1))), l.longest)
		}
	}
	return l.longest
}
