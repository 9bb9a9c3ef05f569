// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Controllers is a metrics.ControllerProvider whose metrics a Prometheus registry collects. Any
// number of controllers may use it. The names of metrics that controller-runtime has are those of
// controller-runtime, so dashboards and alerts for these work. Its Queues may be used for other
// work queues, too.
type Controllers struct {
	*Queues // set once at construction

	controllers runs[metrics.ControllerState]
}

var (
	_ metrics.ControllerProvider = (*Controllers)(nil)
	_ prom.Collector             = (*Controllers)(nil)
)

// NewControllers returns Controllers that are registered with registerer, which must not be nil,
// together with the Queues of their queues. A program that has metrics of controller-runtime needs
// another registry, or a prefix; see [NewQueues].
func NewControllers(registerer prom.Registerer) (*Controllers, error) {
	if registerer == nil {
		return nil, errors.New("controller metrics: the registerer is nil; use prometheus.DefaultRegisterer or one of your own")
	}
	c := &Controllers{
		Queues:      unregisteredQueues(),
		controllers: runs[metrics.ControllerState]{addTotals: addReconciles, addState: addControllerState},
	}
	if err := registerer.Register(c); err != nil {
		return nil, fmt.Errorf("controller metrics: register: %w", err)
	}
	return c, nil
}

// BeginController implements metrics.ControllerProvider. Bytes of name that are not UTF-8 become
// U+FFFD.
func (c *Controllers) BeginController(name string, read func() metrics.ControllerState) (end func()) {
	return c.controllers.begin(name, read(), read)
}

func addReconciles(sum, now, before *metrics.ControllerState) {
	to, from, less := &sum.Totals, &now.Totals, &before.Totals
	to.Succeeded += from.Succeeded - less.Succeeded
	to.Again += from.Again - less.Again
	to.Failed += from.Failed - less.Failed
	to.Terminal += from.Terminal - less.Terminal
	to.Panics += from.Panics - less.Panics
	to.Timeouts += from.Timeouts - less.Timeouts
	to.Awaited += from.Awaited - less.Awaited
	to.Unseen += from.Unseen - less.Unseen
}

func addControllerState(sum, now *metrics.ControllerState) {
	sum.Concurrency += now.Concurrency
	sum.Active += now.Active
	sum.Awaiting += now.Awaiting
}
