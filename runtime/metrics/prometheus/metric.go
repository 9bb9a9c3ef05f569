// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"
	"slices"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
)

// metric is one series of a source with state S, such as a queue.
type metric[S any] struct {
	desc   *prom.Desc
	labels []string         // without those for the source's names
	value  func(*S) float64 // NaN if it has none
	// merge combines the values of two sources of one name. It is nil for a total, which is a sum
	// and includes ended sources.
	merge func(a, b float64) float64
	// bound is the upper bound of a histogram's bucket: +Inf for the last one, then sumOfDurations
	// for the sum. 0 is no histogram.
	bound float64
}

const sumOfDurations = -1

// gauge returns a metric whose values are combined by merge: sum, or the choice of the worse one.
func gauge[S any](desc *prom.Desc, merge func(a, b float64) float64, value func(*S) float64, labels ...string) metric[S] {
	return metric[S]{desc: desc, labels: labels, value: value, merge: merge}
}

func sum(a, b float64) float64 { return a + b }

func total[S any](desc *prom.Desc, value func(*S) int64, labels ...string) metric[S] {
	return metric[S]{desc: desc, labels: labels, value: func(s *S) float64 { return float64(value(s)) }}
}

// histogram returns the metrics of a histogram with these bounds in seconds. of returns the counts
// of the buckets, the last one of those above all bounds, and the sum.
func histogram[S any](desc *prom.Desc, bounds []float64, of func(*S) (counts []int64, sum time.Duration)) (metrics []metric[S]) {
	for n, bound := range append(slices.Clone(bounds), math.Inf(1)) {
		metrics = append(metrics, metric[S]{desc: desc, bound: bound, value: func(s *S) float64 {
			counts, _ := of(s)
			return float64(counts[n])
		}})
	}
	return append(metrics, metric[S]{desc: desc, bound: sumOfDurations, value: func(s *S) float64 {
		_, sum := of(s)
		return sum.Seconds()
	}})
}

func secondsOf(bounds []time.Duration) (seconds []float64) {
	for _, bound := range bounds {
		seconds = append(seconds, bound.Seconds())
	}
	return seconds
}

func describe[S any](all []metric[S], ch chan<- *prom.Desc) {
	var last *prom.Desc
	for _, m := range all {
		if m.desc != last {
			ch <- m.desc
		}
		last = m.desc
	}
}

func emit[S any](all []metric[S], values []float64, names []string, ch chan<- prom.Metric) {
	var count uint64
	buckets := map[float64]uint64{}
	for n, m := range all {
		value := values[n]
		switch {
		case m.bound == sumOfDurations:
			ch <- prom.MustNewConstHistogram(m.desc, count, value, buckets, names...)
			count, buckets = 0, map[float64]uint64{}
		case m.bound != 0:
			if count += uint64(value); !math.IsInf(m.bound, 1) {
				buckets[m.bound] = count
			}
		case !math.IsNaN(value):
			typ := prom.GaugeValue
			if m.merge == nil {
				typ = prom.CounterValue
			}
			ch <- prom.MustNewConstMetric(m.desc, typ, value, append(names[:len(names):len(names)], m.labels...)...)
		}
	}
}

func valuesOf[S any](all []metric[S], s S) []float64 {
	values := make([]float64, len(all))
	for n, m := range all {
		values[n] = m.value(&s)
	}
	return values
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return math.NaN()
	}
	return float64(t.UnixMilli()) / 1000
}

func age(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, time.Since(since).Seconds())
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
