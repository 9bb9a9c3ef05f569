// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/http"
	"strconv"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/serve"
)

// requests counts the requests of callers, and times their answers. Its labels are those of an API
// server's metrics. A request for anything except the relay's resources has only the verb, so that
// callers can't make labels up.
type requests struct {
	// set once at construction
	served  map[schema.GroupVersionResource]bool
	total   *prom.CounterVec
	seconds *prom.HistogramVec
}

func newRequests(served map[schema.GroupVersionResource]bool) *requests {
	labels := []string{"verb", "group", "version", "resource"}
	return &requests{
		served: served,
		total: prom.NewCounterVec(prom.CounterOpts{
			Name: "informer_relay_request_total",
			Help: "Requests of callers, by what they ask for and the code of the answer; a watch counts when its answer begins.",
		}, append(labels, "code")),
		seconds: prom.NewHistogramVec(prom.HistogramOpts{
			Name:    "informer_relay_request_duration_seconds",
			Help:    "Time from a caller's request until the answer begins, reviews and waits for a version included.",
			Buckets: prom.ExponentialBuckets(0.001, 4, 7), // to 4 s
		}, labels),
	}
}

// Describe implements prometheus.Collector.
func (r *requests) Describe(ch chan<- *prom.Desc) {
	r.total.Describe(ch)
	r.seconds.Describe(ch)
}

// Collect implements prometheus.Collector.
func (r *requests) Collect(ch chan<- prom.Metric) {
	r.total.Collect(ch)
	r.seconds.Collect(ch)
}

// observe returns a handler that calls next, and observes each request when its answer begins.
func (r *requests) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		began := time.Now()
		a := &answer{ResponseWriter: w, begun: func(code int) { r.add(req, code, time.Since(began)) }}
		next.ServeHTTP(a, req)
		a.begin(http.StatusOK) // as net/http does if the handler wrote nothing
	})
}

func (r *requests) add(req *http.Request, code int, took time.Duration) {
	what := serve.AttributesOf(req)
	if !r.served[what.Resource] {
		what.Resource = schema.GroupVersionResource{}
	}
	labels := []string{verbOf(what), what.Resource.Group, what.Resource.Version, what.Resource.Resource}
	r.seconds.WithLabelValues(labels...).Observe(took.Seconds())
	r.total.WithLabelValues(append(labels, strconv.Itoa(code))...).Inc()
}

func verbOf(a serve.Attributes) string {
	switch a.Verb {
	case "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection":
		return a.Verb
	}
	return "other"
}

// answer is a ResponseWriter that calls begun when the answer begins.
type answer struct {
	http.ResponseWriter
	begun func(code int) // nil after the call
}

func (a *answer) begin(code int) {
	if a.begun != nil {
		a.begun(code)
		a.begun = nil
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	if code >= http.StatusOK { // not an informational answer
		a.begin(code)
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(data []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.ResponseWriter.Write(data)
}

// Unwrap implements the protocol of http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
