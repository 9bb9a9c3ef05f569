// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"strings"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Provider is a metrics.Provider for a Prometheus registry.
type Provider struct {
	// set once at construction
	informers collector[metrics.InformerState]
	handlers  collector[metrics.HandlerState]

	list, watch, batchChanges, batchSeconds, callback *prom.HistogramVec
	failures, panics                                  *prom.CounterVec
}

var (
	_ metrics.Provider = (*Provider)(nil)
	_ prom.Collector   = (*Provider)(nil)
)

// New returns a Provider registered with registerer, which must not be nil. promhttp.Handler serves
// the metrics of prometheus.DefaultRegisterer. If registerer already has a Provider, the error is a
// prometheus.AlreadyRegisteredError: share that Provider, or distinguish the two with a prefix or a
// label. registerer.Unregister removes the Provider.
func New(registerer prom.Registerer) (*Provider, error) {
	return register("informer metrics", registerer, &Provider{
		informers: collector[metrics.InformerState]{metrics: informerMetrics},
		handlers:  collector[metrics.HandlerState]{metrics: handlerMetrics},
		list: histograms("informer_list_duration_seconds", "Time from the request of a full state to its last object.",
			[]float64{0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300}, "informer"),
		watch: histograms("informer_watch_duration_seconds", "How long watches stayed open.",
			[]float64{1, 10, 60, 300, 600, 1800}, "informer"),
		batchChanges: histograms("informer_batch_changes", "Changes published in one step.",
			[]float64{1, 10, 100, 1000, 10000}, "informer"),
		batchSeconds: histograms("informer_batch_duration_seconds", "Time to apply and publish the changes of one step.",
			[]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1}, "informer"),
		failures: counters("informer_failures_total", "Failed lists and watches, by reason.", "informer", "reason"),
		callback: histograms("informer_handler_callback_duration_seconds", "Duration of the handler's callbacks.",
			[]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}, "informer", "handler"),
		panics: counters("informer_handler_panics_total", "Callbacks of the handler that panicked.", "informer", "handler"),
	})
}

func histograms(name, help string, buckets []float64, labels ...string) *prom.HistogramVec {
	return prom.NewHistogramVec(prom.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func counters(name, help string, labels ...string) *prom.CounterVec {
	return prom.NewCounterVec(prom.CounterOpts{Name: name, Help: help}, labels)
}

func (p *Provider) collectors() []prom.Collector {
	return []prom.Collector{
		&p.informers, &p.handlers, p.list, p.watch, p.batchChanges, p.batchSeconds, p.failures, p.callback, p.panics,
	}
}

// Describe implements prometheus.Collector.
func (p *Provider) Describe(ch chan<- *prom.Desc) {
	for _, c := range p.collectors() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (p *Provider) Collect(ch chan<- prom.Metric) {
	for _, c := range p.collectors() {
		c.Collect(ch)
	}
}

// BeginInformer implements metrics.Provider. Invalid UTF-8 in name becomes U+FFFD.
func (p *Provider) BeginInformer(name string, read func() metrics.InformerState) metrics.InformerRecorder {
	name = labelValue(name)
	before := read()
	return &informerRun{
		provider: p, name: name, end: p.informers.begin(names{first: name}, &before, read),
		list: p.list.WithLabelValues(name), watch: p.watch.WithLabelValues(name),
		batchChanges: p.batchChanges.WithLabelValues(name), batchSeconds: p.batchSeconds.WithLabelValues(name),
	}
}

type informerRun struct {
	provider *Provider
	name     string
	end      func()

	list, watch, batchChanges, batchSeconds prom.Observer
}

func (r *informerRun) ListDone(took time.Duration, _ int) { r.list.Observe(took.Seconds()) }

func (r *informerRun) WatchDone(lasted time.Duration, _ int) { r.watch.Observe(lasted.Seconds()) }

func (r *informerRun) BatchDone(took time.Duration, changes int) {
	r.batchChanges.Observe(float64(changes))
	r.batchSeconds.Observe(took.Seconds())
}

func (r *informerRun) Failed(reason string) {
	r.provider.failures.WithLabelValues(r.name, labelValue(strings.ReplaceAll(reason, " ", "_"))).Inc()
}

func (r *informerRun) Close() { r.end() }

func (r *informerRun) BeginHandler(name string, read func() metrics.HandlerState) metrics.HandlerRecorder {
	name, p := labelValue(name), r.provider
	return &handlerRun{
		end:      p.handlers.begin(names{r.name, name}, nil, read),
		callback: p.callback.WithLabelValues(r.name, name), panics: p.panics.WithLabelValues(r.name, name),
	}
}

type handlerRun struct {
	end      func()
	callback prom.Observer
	panics   prom.Counter
}

func (h *handlerRun) CallbackDone(took time.Duration, panicked bool) {
	h.callback.Observe(took.Seconds())
	if panicked {
		h.panics.Inc()
	}
}

func (h *handlerRun) Close() { h.end() }
