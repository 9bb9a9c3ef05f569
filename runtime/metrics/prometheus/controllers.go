// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Controllers is a metrics.ControllerProvider, and for work queues a metrics.QueueProvider, for a
// Prometheus registry. Any number of controllers and of other queues may use it.
type Controllers struct {
	queues      collector[metrics.QueueState]
	controllers collector[metrics.ControllerState]
}

var (
	_ metrics.ControllerProvider = (*Controllers)(nil)
	_ prom.Collector             = (*Controllers)(nil)
)

// NewControllers returns Controllers registered with registerer, which must not be nil. Their
// registration is separate because other libraries, such as controller-runtime, have metrics of the
// same names with other labels: use a different registry, or wrap registerer to add a prefix.
func NewControllers(registerer prom.Registerer) (*Controllers, error) {
	return register("controller metrics", registerer, &Controllers{
		queues:      collector[metrics.QueueState]{metrics: queueMetrics},
		controllers: collector[metrics.ControllerState]{metrics: controllerMetrics},
	})
}

// BeginQueue implements metrics.QueueProvider. Invalid UTF-8 in name becomes U+FFFD.
func (c *Controllers) BeginQueue(name string, read func() metrics.QueueState) (end func()) {
	return c.queues.begin(names{first: labelValue(name)}, nil, read)
}

// BeginController implements metrics.ControllerProvider. Invalid UTF-8 in name becomes U+FFFD.
func (c *Controllers) BeginController(name string, read func() metrics.ControllerState) (end func()) {
	before := read()
	return c.controllers.begin(names{first: labelValue(name)}, &before, read)
}

// Describe implements prometheus.Collector.
func (c *Controllers) Describe(ch chan<- *prom.Desc) {
	c.queues.Describe(ch)
	c.controllers.Describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Controllers) Collect(ch chan<- prom.Metric) {
	c.queues.Collect(ch)
	c.controllers.Collect(ch)
}

func controllerDesc(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("controller_"+name, help, append([]string{"controller"}, labels...), nil)
}

func controllerGauge(name, help string, value func(*metrics.ControllerState) int) metric[metrics.ControllerState] {
	return gauge(controllerDesc(name, help), sum, func(s *metrics.ControllerState) float64 { return float64(value(s)) })
}

func reconciles(desc *prom.Desc, value func(*metrics.ReconcileTotals) int64, labels ...string) metric[metrics.ControllerState] {
	return total(desc, func(s *metrics.ControllerState) int64 { return value(&s.Totals) }, labels...)
}

var reconcilesDesc = controllerDesc("runtime_reconcile_total", "Reconciles, by result.", "result")

var controllerMetrics = []metric[metrics.ControllerState]{
	reconciles(reconcilesDesc, func(t *metrics.ReconcileTotals) int64 { return t.Succeeded }, "success"),
	reconciles(reconcilesDesc, func(t *metrics.ReconcileTotals) int64 { return t.Again }, "requeue_after"),
	reconciles(reconcilesDesc, func(t *metrics.ReconcileTotals) int64 { return t.Failed + t.Terminal }, "error"),
	reconciles(controllerDesc("runtime_reconcile_errors_total", "Reconciles that returned an error."),
		func(t *metrics.ReconcileTotals) int64 { return t.Failed + t.Terminal }),
	reconciles(controllerDesc("runtime_terminal_reconcile_errors_total", "Reconciles that returned a terminal error."),
		func(t *metrics.ReconcileTotals) int64 { return t.Terminal }),
	reconciles(controllerDesc("runtime_reconcile_panics_total", "Reconciles that panicked."),
		func(t *metrics.ReconcileTotals) int64 { return t.Panics }),
	reconciles(controllerDesc("runtime_reconcile_timeouts_total", "Reconciles that returned after their deadline."),
		func(t *metrics.ReconcileTotals) int64 { return t.Timeouts }),
	controllerGauge("runtime_max_concurrent_reconciles", "Maximum number of concurrent reconciles.",
		func(s *metrics.ControllerState) int { return s.Concurrency }),
	controllerGauge("runtime_active_workers", "Number of running reconciles.", func(s *metrics.ControllerState) int { return s.Active }),
	controllerGauge("awaiting_keys", "Keys held back until the cache has their last writes.",
		func(s *metrics.ControllerState) int { return s.Awaiting }),
	reconciles(controllerDesc("awaited_reconciles_total", "Reconciles after which the key was held back."),
		func(t *metrics.ReconcileTotals) int64 { return t.Awaited }),
	reconciles(controllerDesc("unseen_writes_total", "Writes that the cache did not have in time."),
		func(t *metrics.ReconcileTotals) int64 { return t.Unseen }),
}
