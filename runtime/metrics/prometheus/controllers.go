// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"slices"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// BeginQueue implements metrics.QueueProvider. Invalid UTF-8 in name becomes U+FFFD.
func (p *Provider) BeginQueue(name string, read func() metrics.QueueState) (end func()) {
	return p.queues.begin(namedTwice(name, name), nil, read)
}

// BeginController implements metrics.ControllerProvider. Invalid UTF-8 in name becomes U+FFFD.
func (p *Provider) BeginController(name string, read func() metrics.ControllerState) (end func()) {
	before := read()
	return p.controllers.begin(named(name), &before, read)
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

var controllerMetrics = slices.Concat([]metric[metrics.ControllerState]{
	reconciles(reconcilesDesc, func(t *metrics.ReconcileTotals) int64 { return t.Succeeded }, "success"),
	reconciles(reconcilesDesc, func(t *metrics.ReconcileTotals) int64 { return t.Again }, "requeue_after"),
	reconciles(reconcilesDesc, func(t *metrics.ReconcileTotals) int64 { return t.Failed + t.Terminal }, "error"),
	// No result asks for a requeue without a time, but dashboards have its series.
	reconciles(reconcilesDesc, func(*metrics.ReconcileTotals) int64 { return 0 }, "requeue"),
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
}, histogram(controllerDesc("runtime_reconcile_time_seconds", "Duration of reconciles."), secondsOf(metrics.ReconcileBounds()),
	func(s *metrics.ControllerState) ([]int64, time.Duration) { return s.Took.Counts[:], s.Took.Sum }))
