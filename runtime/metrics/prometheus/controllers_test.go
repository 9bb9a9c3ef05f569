// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"strings"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// seriesOf returns the values of the series whose names begin with a prefix.
func seriesOf(t *testing.T, registry *prom.Registry, prefix string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), prefix) {
			continue
		}
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values
}

// TestControllers has two controllers of one name, one of which runs a second time.
func TestControllers(t *testing.T) {
	registry := prom.NewRegistry()
	c, err := NewControllers(registry)
	if err != nil {
		t.Fatal(err)
	}
	a := metrics.ControllerState{Concurrency: 4, Active: 1, Awaiting: 3, Totals: metrics.ReconcileTotals{
		Succeeded: 100, Again: 10, Failed: 20, Terminal: 5, Panics: 2, Timeouts: 3, Awaited: 40, Unseen: 1,
	}}
	b := metrics.ControllerState{Concurrency: 1, Totals: metrics.ReconcileTotals{Succeeded: 1000}}
	end := c.BeginController("widgets", func() metrics.ControllerState { return a })
	c.BeginController("widgets", func() metrics.ControllerState { return b })
	a.Totals.Succeeded += 5
	end()
	end() // does nothing
	c.BeginController("widgets", func() metrics.ControllerState { return a })
	a.Totals = metrics.ReconcileTotals{
		Succeeded: 106, Again: 12, Failed: 23, Terminal: 9, Panics: 7, Timeouts: 9, Awaited: 47, Unseen: 9,
	}
	want := map[string]float64{
		"controller_runtime_reconcile_total widgets success":         6,
		"controller_runtime_reconcile_total widgets requeue_after":   2,
		"controller_runtime_reconcile_total widgets error":           7,
		"controller_runtime_reconcile_errors_total widgets":          7,
		"controller_runtime_terminal_reconcile_errors_total widgets": 4,
		"controller_runtime_reconcile_panics_total widgets":          5,
		"controller_runtime_reconcile_timeouts_total widgets":        6,
		"controller_runtime_max_concurrent_reconciles widgets":       5,
		"controller_runtime_active_workers widgets":                  1,
		"controller_awaiting_keys widgets":                           3,
		"controller_awaited_reconciles_total widgets":                7,
		"controller_unseen_writes_total widgets":                     8,
	}
	got := seriesOf(t, registry, "controller_")
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d series, want %d: %v", len(got), len(want), got)
	}
	if _, err := NewControllers(nil); err == nil {
		t.Error("NewControllers accepts no registerer")
	}
	if _, err := NewControllers(registry); err == nil {
		t.Error("NewControllers registers twice")
	}
}
