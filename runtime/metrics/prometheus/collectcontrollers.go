// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

var (
	reconcilesDesc      = describeController("controller_runtime_reconcile_total", "Reconciles by what has come of them.", "result")
	reconcileErrorsDesc = describeController("controller_runtime_reconcile_errors_total", "Reconciles that returned an error.")
	terminalErrorsDesc  = describeController("controller_runtime_terminal_reconcile_errors_total", "Reconciles that returned a terminal error.")
	panicsDesc          = describeController("controller_runtime_reconcile_panics_total", "Reconciles that panicked.")
	timeoutsDesc        = describeController("controller_runtime_reconcile_timeouts_total", "Reconciles that returned after their deadline.")
	concurrencyDesc     = describeController("controller_runtime_max_concurrent_reconciles", "How many reconciles may run at once.")
	activeDesc          = describeController("controller_runtime_active_workers", "How many reconciles run.")
	awaitingDesc        = describeController("controller_awaiting_keys", "Keys that are held back until the cache has what was written.")
	awaitedDesc         = describeController("controller_awaited_reconciles_total", "Reconciles after which the key was held back.")
	unseenDesc          = describeController("controller_unseen_writes_total", "Writes that the cache did not have in time.")
	controllerDescs     = []*prom.Desc{
		reconcilesDesc, reconcileErrorsDesc, terminalErrorsDesc, panicsDesc, timeoutsDesc, concurrencyDesc, activeDesc,
		awaitingDesc, awaitedDesc, unseenDesc,
	}
)

func describeController(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc(name, help, append([]string{"controller"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (c *Controllers) Describe(ch chan<- *prom.Desc) {
	c.Queues.Describe(ch)
	for _, desc := range controllerDescs {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It takes the locks of each controller and each queue,
// one after the other, for a moment.
func (c *Controllers) Collect(ch chan<- prom.Metric) {
	c.Queues.Collect(ch)
	c.controllers.sums(func(name string, sum *metrics.ControllerState) { collectController(ch, name, sum) })
}

func collectController(ch chan<- prom.Metric, name string, s *metrics.ControllerState) {
	emit := func(desc *prom.Desc, typ prom.ValueType, value int64, labels ...string) {
		ch <- prom.MustNewConstMetric(desc, typ, float64(value), append([]string{name}, labels...)...)
	}
	t := &s.Totals
	for _, result := range []struct {
		label string
		count int64
	}{{"success", t.Succeeded}, {"requeue_after", t.Again}, {"error", t.Failed + t.Terminal}} {
		emit(reconcilesDesc, prom.CounterValue, result.count, result.label)
	}
	emit(reconcileErrorsDesc, prom.CounterValue, t.Failed+t.Terminal)
	emit(terminalErrorsDesc, prom.CounterValue, t.Terminal)
	emit(panicsDesc, prom.CounterValue, t.Panics)
	emit(timeoutsDesc, prom.CounterValue, t.Timeouts)
	emit(concurrencyDesc, prom.GaugeValue, int64(s.Concurrency))
	emit(activeDesc, prom.GaugeValue, int64(s.Active))
	emit(awaitingDesc, prom.GaugeValue, int64(s.Awaiting))
	emit(awaitedDesc, prom.CounterValue, t.Awaited)
	emit(unseenDesc, prom.CounterValue, t.Unseen)
}
