// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Provider receives the metrics of package metrics for a Prometheus registry. It serves any number
// of informers, controllers, work queues, elections, rings and watch caches. Make one with [New].
type Provider struct {
	Informers

	// set once at construction
	queues      collector[metrics.QueueState]
	controllers collector[metrics.ControllerState]
	elections   collector[bool]
	rings       collector[metrics.RingState]
	caches      collector[metrics.CacheState]
	requests    []prom.Collector // shared by all Providers
	gatherer    prom.Gatherer    // of the registry; nil if unknown
}

// Informers receives only the metrics of informers. Make it with [NewInformers].
type Informers struct {
	// set once at construction
	informers collector[metrics.InformerState]
	handlers  collector[metrics.HandlerState]

	list, watch, batchChanges, batchSeconds, callback *prom.HistogramVec
	failures, panics                                  *prom.CounterVec
}

var (
	_ metrics.Provider           = (*Informers)(nil)
	_ prom.Collector             = (*Informers)(nil)
	_ metrics.Provider           = (*Provider)(nil)
	_ metrics.ControllerProvider = (*Provider)(nil)
	_ metrics.CacheProvider      = (*Provider)(nil)
	_ prom.Collector             = (*Provider)(nil)
	_ http.Handler               = (*Provider)(nil)
)

// New returns a Provider registered with registerer, which must not be nil. It also registers
// client_golang's collectors of the Go runtime and of the process, unless they are registered, and
// makes client-go and package source report their requests.
//
// If registerer already has a Provider, the error is a prometheus.AlreadyRegisteredError: share
// that Provider, or distinguish the two with a prefix or a label. The registries of
// controller-runtime and k8s.io/component-base have metrics of the same names, so New fails there:
// use [NewInformers]. registerer.Unregister removes the Provider.
func New(registerer prom.Registerer) (*Provider, error) {
	p := newProvider()
	p.requests = requestCollectors()
	if err := register("metrics", registerer, p); err != nil {
		return nil, fmt.Errorf("%w; NewInformers is for a registry that has controller-runtime's metrics", err)
	}
	for _, c := range []prom.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		var registered prom.AlreadyRegisteredError
		if err := registerer.Register(c); err != nil && !errors.As(err, &registered) {
			registerer.Unregister(p)
			return nil, fmt.Errorf("metrics: register those of the process: %w", err)
		}
	}
	p.gatherer, _ = registerer.(prom.Gatherer)
	receiveRequests()
	return p, nil
}

func newProvider() *Provider {
	p := &Provider{
		queues:      collector[metrics.QueueState]{metrics: queueMetrics},
		controllers: collector[metrics.ControllerState]{metrics: controllerMetrics},
		elections:   collector[bool]{metrics: electionMetrics},
		rings:       collector[metrics.RingState]{metrics: ringMetrics},
		caches:      collector[metrics.CacheState]{metrics: cacheMetrics},
	}
	p.Informers.init()
	return p
}

// NewInformers is [New] for a registry that has metrics of controllers and requests of its own,
// such as controller-runtime's.
func NewInformers(registerer prom.Registerer) (*Informers, error) {
	i := &Informers{}
	i.init()
	if err := register("informer metrics", registerer, i); err != nil {
		return nil, err
	}
	return i, nil
}

func (i *Informers) init() {
	*i = Informers{
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
	}
}

// metrics describes c in errors.
func register(metrics string, registerer prom.Registerer, c prom.Collector) error {
	if registerer == nil {
		return fmt.Errorf("%s: the registerer is nil; use prometheus.DefaultRegisterer or one of your own", metrics)
	}
	if err := registerer.Register(c); err != nil {
		return fmt.Errorf("%s: register: %w", metrics, err)
	}
	return nil
}

// ServeHTTP answers with all metrics of the registry, as promhttp's handler does. If New got
// another Registerer than a registry, such as a wrapped one, it answers 500.
func (p *Provider) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if p.gatherer == nil {
		http.Error(w, "metrics: prometheus.New got a Registerer that is not a registry; serve promhttp.HandlerFor(its registry) instead", http.StatusInternalServerError)
		return
	}
	promhttp.HandlerFor(p.gatherer, promhttp.HandlerOpts{}).ServeHTTP(w, req)
}

func histograms(name, help string, buckets []float64, labels ...string) *prom.HistogramVec {
	return prom.NewHistogramVec(prom.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func counters(name, help string, labels ...string) *prom.CounterVec {
	return prom.NewCounterVec(prom.CounterOpts{Name: name, Help: help}, labels)
}

func (i *Informers) collectors() []prom.Collector {
	return []prom.Collector{
		&i.informers, &i.handlers, i.list, i.watch, i.batchChanges, i.batchSeconds, i.failures, i.callback, i.panics,
	}
}

func (p *Provider) collectors() []prom.Collector {
	return append(append(p.Informers.collectors(), &p.queues, &p.controllers, &p.elections, &p.rings, &p.caches), p.requests...)
}

// Describe implements prometheus.Collector.
func (i *Informers) Describe(ch chan<- *prom.Desc) {
	for _, c := range i.collectors() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (i *Informers) Collect(ch chan<- prom.Metric) {
	for _, c := range i.collectors() {
		c.Collect(ch)
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
func (i *Informers) BeginInformer(name string, read func() metrics.InformerState) metrics.InformerRecorder {
	name = labelValue(name)
	before := read()
	return &informerRun{
		provider: i, name: name, end: i.informers.begin(named(name), &before, read),
		list: i.list.WithLabelValues(name), watch: i.watch.WithLabelValues(name),
		batchChanges: i.batchChanges.WithLabelValues(name), batchSeconds: i.batchSeconds.WithLabelValues(name),
	}
}

type informerRun struct {
	provider *Informers
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
		end:      p.handlers.begin(namedTwice(r.name, name), nil, read),
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
