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
			Help: "Callers' requests, by verb, resource and status code; a watch counts when its answer begins.",
		}, append(labels, "code")),
		seconds: prom.NewHistogramVec(prom.HistogramOpts{
			Name:    "informer_relay_request_duration_seconds",
			Help:    "Time from a caller's request to the beginning of the answer, including reviews and the wait for a version.",
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
		a := &observedWriter{ResponseWriter: w, onBegin: func(code int) { r.add(req, code, time.Since(began)) }}
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

// observedWriter is a ResponseWriter that calls onBegin when the answer begins.
type observedWriter struct {
	http.ResponseWriter
	onBegin func(code int) // nil after the call
}

func (a *observedWriter) begin(code int) {
	if a.onBegin != nil {
		a.onBegin(code)
		a.onBegin = nil
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *observedWriter) WriteHeader(code int) {
	if code >= http.StatusOK { // not an informational answer
		a.begin(code)
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (a *observedWriter) Write(data []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.ResponseWriter.Write(data)
}

// Unwrap implements the protocol of http.ResponseController.
func (a *observedWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
