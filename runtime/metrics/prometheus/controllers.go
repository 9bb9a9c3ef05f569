// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"
	"sync"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Controllers is a metrics.ControllerProvider whose metrics a Prometheus registry collects. Any
// number of controllers may use it. The names of metrics that controller-runtime has are those of
// controller-runtime, so dashboards and alerts for these work. Its Queues may be used for other
// work queues, too.
type Controllers struct {
	*Queues // set once at construction

	mu     sync.Mutex // mu guards what follows; it is not held while a controller's state is read
	byName map[string]*controllerSeries
}

// controllerSeries are the series that all controllers of one name share.
type controllerSeries struct {
	runs  map[int]controllerRun // those that have not ended
	next  int                   // key in runs
	ended metrics.ReconcileTotals
}

// controllerRun is one run of a controller. before are the totals of earlier runs, which ended has.
type controllerRun struct {
	read   func() metrics.ControllerState
	before metrics.ReconcileTotals
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
	c := &Controllers{Queues: &Queues{byName: map[string]*queueSeries{}}, byName: map[string]*controllerSeries{}}
	if err := registerer.Register(c); err != nil {
		return nil, fmt.Errorf("controller metrics: register: %w", err)
	}
	return c, nil
}

// BeginController implements metrics.ControllerProvider. Bytes of name that are not UTF-8 become
// U+FFFD.
func (c *Controllers) BeginController(name string, read func() metrics.ControllerState) (end func()) {
	name = labelValue(name)
	run := controllerRun{read: read, before: read().Totals}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.byName[name]
	if s == nil {
		s = &controllerSeries{runs: map[int]controllerRun{}}
		c.byName[name] = s
	}
	key := s.next
	s.next++
	s.runs[key] = run
	return func() {
		last := read().Totals
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, ok := s.runs[key]; ok {
			delete(s.runs, key)
			s.ended = addReconciles(s.ended, last, run.before)
		}
	}
}

// addReconciles adds to sum what was counted between before and now.
func addReconciles(sum, now, before metrics.ReconcileTotals) metrics.ReconcileTotals {
	return metrics.ReconcileTotals{
		Succeeded: sum.Succeeded + now.Succeeded - before.Succeeded,
		Again:     sum.Again + now.Again - before.Again,
		Failed:    sum.Failed + now.Failed - before.Failed,
		Terminal:  sum.Terminal + now.Terminal - before.Terminal,
		Panics:    sum.Panics + now.Panics - before.Panics,
		Timeouts:  sum.Timeouts + now.Timeouts - before.Timeouts,
		Awaited:   sum.Awaited + now.Awaited - before.Awaited,
		Unseen:    sum.Unseen + now.Unseen - before.Unseen,
		HotLoops:  sum.HotLoops + now.HotLoops - before.HotLoops,
	}
}
