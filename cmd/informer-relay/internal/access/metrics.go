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
			Help: "Callers' requests and reviews of open watches, by answer.",
		}, []string{"answer"}),
		reviews: prom.NewHistogramVec(prom.HistogramOpts{
			Name:    "informer_relay_review_seconds",
			Help:    "Time the API server took for a review, by kind of review.",
			Buckets: prom.ExponentialBuckets(0.001, 4, 7), // to 4 s
		}, []string{"review"}),
		failures: prom.NewCounterVec(prom.CounterOpts{
			Name: "informer_relay_failed_reviews_total",
			Help: "Failed reviews, by reason: the API server's status code, timeout, connection, undecided, malformed, or limited for reviews not sent.",
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

func (c counters) observeReview(review string, began time.Time) {
	c.reviews.WithLabelValues(review).Observe(time.Since(began).Seconds())
}
