// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"net/url"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	clientmetrics "k8s.io/client-go/tools/metrics"
)

// The metrics of requests belong to the process: client-go has one receiver, the first one set.
var (
	requestSeconds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}

	requests = counters("rest_client_requests_total", "Requests to API servers, by status code.", "code", "method", "host")
	retries  = counters("rest_client_request_retries_total", "Retries of requests to API servers, by status code.", "code", "verb", "host")
	latency  = histograms("rest_client_request_duration_seconds", "Time from a request until its answer was read.", requestSeconds, "verb", "host")
	limiter  = histograms("rest_client_rate_limiter_duration_seconds", "Time requests waited for the client's rate limiter.", requestSeconds, "verb", "host")
)

func requestCollectors() []prom.Collector {
	return []prom.Collector{requests, retries, latency, limiter}
}

// receiveRequests sets client-go's receiver.
var receiveRequests = sync.OnceFunc(func() {
	clientmetrics.Register(clientmetrics.RegisterOpts{
		RequestResult: requestCounter{}, RequestRetry: requestCounter{},
		RequestLatency: requestTimer{latency}, RateLimiterLatency: requestTimer{limiter},
	})
})

type requestCounter struct{}

func (requestCounter) Increment(_ context.Context, code, method, host string) {
	requests.WithLabelValues(code, method, host).Inc()
}

func (requestCounter) IncrementRetry(_ context.Context, code, verb, host string) {
	retries.WithLabelValues(code, verb, host).Inc()
}

type requestTimer struct{ seconds *prom.HistogramVec }

func (t requestTimer) Observe(_ context.Context, verb string, u url.URL, took time.Duration) {
	t.seconds.WithLabelValues(verb, u.Host).Observe(took.Seconds())
}
