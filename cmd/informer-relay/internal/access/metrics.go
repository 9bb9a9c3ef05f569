// SPDX-License-Identifier: Apache-2.0

package access

import (
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
)

const (
	resultAllowed      = "allowed"
	resultUnauthorized = "unauthorized"
	resultForbidden    = "forbidden"
	resultLimited      = "limited"
	resultFailed       = "failed"
)

type counters struct {
	decisions *prom.CounterVec
	reviews   *prom.HistogramVec
	failures  *prom.CounterVec
}

func newCounters() counters {
	c := counters{
		decisions: prom.NewCounterVec(prom.CounterOpts{
			Name: "informer_relay_decisions_total",
			Help: "Requests of callers, and reviews of open watches, by the answer.",
		}, []string{"answer"}),
		reviews: prom.NewHistogramVec(prom.HistogramOpts{
			Name:    "informer_relay_review_seconds",
			Help:    "Time that the API server took for a review, by its kind.",
			Buckets: prom.ExponentialBuckets(0.001, 4, 7), // to 4 s
		}, []string{"review"}),
		failures: prom.NewCounterVec(prom.CounterOpts{
			Name: "informer_relay_failed_reviews_total",
			Help: "Reviews that have failed, by the reason: the API server's status code, timeout, connection, undecided, or malformed; limited are those that were not sent.",
		}, []string{"reason"}),
	}
	for _, answer := range []string{resultAllowed, resultUnauthorized, resultForbidden, resultLimited, resultFailed} {
		c.decisions.WithLabelValues(answer) // present from the start
	}
	return c
}

// Describe implements prometheus.Collector.
func (a *Access) Describe(ch chan<- *prom.Desc) {
	a.counters.decisions.Describe(ch)
	a.counters.reviews.Describe(ch)
	a.counters.failures.Describe(ch)
}

// Collect implements prometheus.Collector.
func (a *Access) Collect(ch chan<- prom.Metric) {
	a.counters.decisions.Collect(ch)
	a.counters.reviews.Collect(ch)
	a.counters.failures.Collect(ch)
}

func (c counters) took(review string, began time.Time) {
	c.reviews.WithLabelValues(review).Observe(time.Since(began).Seconds())
}
