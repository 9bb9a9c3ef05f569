// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// fixed returns a function that returns the state.
func fixed(s metrics.QueueState) func() metrics.QueueState {
	return func() metrics.QueueState { return s }
}

var someQueue = metrics.QueueState{
	Depth: [3]int{1, 20, 300}, Oldest: 3 * time.Second, Delayed: 4, Held: 5, Failing: 6,
	Running: 2, RunningFor: 8 * time.Second, LongestRunning: 7 * time.Second, Adds: 1000, Retries: 30,
	Waited: metrics.Durations{Counts: [13]int64{1, 0, 2, 12: 1}, Sum: 20 * time.Second},
	Worked: metrics.Durations{Counts: [13]int64{9: 3}, Sum: 6 * time.Second},
}

func TestEveryQueueMetric(t *testing.T) {
	c, registry := registered(t)
	c.BeginQueue("widgets", fixed(someQueue))
	golden(t, registry, "testdata/queues.prom")
}

// TestQueuesOfOneNameShareTheirSeries: totals stay after the end of a queue.
func TestQueuesOfOneNameShareTheirSeries(t *testing.T) {
	c, registry := registered(t)
	end := c.BeginQueue("widgets", fixed(someQueue))
	c.BeginQueue("widgets", fixed(metrics.QueueState{Depth: [3]int{1, 1, 1}, Oldest: time.Second, Adds: 1, Held: 1}))
	gone := c.BeginQueue("gone\xff", fixed(someQueue))
	check := func(high, normal, low, held, oldest float64) {
		t.Helper()
		wantSamples(t, registry, map[string]float64{
			"workqueue_depth{widgets,widgets,1}": high, "workqueue_depth{widgets,widgets,0}": normal, "workqueue_depth{widgets,widgets,-1}": low,
			"workqueue_held{widgets,widgets}": held, "workqueue_oldest_seconds{widgets,widgets}": oldest,
			"workqueue_adds_total{widgets,widgets}": 1001, "workqueue_held{gone\uFFFD,gone\uFFFD}": -1,
		})
	}
	wantSamples(t, registry, map[string]float64{"workqueue_held{gone\uFFFD,gone\uFFFD}": 5})
	gone()
	gone()
	check(2, 21, 301, 6, 3)
	end()
	check(1, 1, 1, 1, 1)
}

// TestControllers has two controllers of one name; one runs twice.
func TestControllers(t *testing.T) {
	c, registry := registered(t)
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
	for _, took := range []time.Duration{0, 5 * time.Millisecond, 6 * time.Millisecond, time.Minute, time.Hour} {
		a.Took.Add(took)
	}
	want := map[string]float64{
		"controller_runtime_reconcile_total{widgets,success}":         6,
		"controller_runtime_reconcile_total{widgets,requeue_after}":   2,
		"controller_runtime_reconcile_total{widgets,error}":           7,
		"controller_runtime_reconcile_total{widgets,requeue}":         0,
		"controller_runtime_reconcile_time_seconds{widgets}":          5,
		"controller_runtime_reconcile_errors_total{widgets}":          7,
		"controller_runtime_terminal_reconcile_errors_total{widgets}": 4,
		"controller_runtime_reconcile_panics_total{widgets}":          5,
		"controller_runtime_reconcile_timeouts_total{widgets}":        6,
		"controller_runtime_max_concurrent_reconciles{widgets}":       5,
		"controller_runtime_active_workers{widgets}":                  1,
		"controller_awaiting_keys{widgets}":                           3,
		"controller_awaited_reconciles_total{widgets}":                7,
		"controller_unseen_writes_total{widgets}":                     8,
	}
	wantSamples(t, registry, want)
	if got := gather(t, registry); len(got) != len(want) {
		t.Errorf("%d series, want %d: %v", len(got), len(want), got)
	}
}

// TestDurationsOfReconciles: the buckets are controller-runtime's; a bound belongs to its bucket.
func TestDurationsOfReconciles(t *testing.T) {
	c, registry := registered(t)
	s := metrics.ControllerState{}
	for _, took := range []time.Duration{0, 5 * time.Millisecond, 6 * time.Millisecond, time.Minute, time.Hour} {
		s.Took.Add(took)
	}
	c.controllers.begin(named("widgets"), nil, func() metrics.ControllerState { return s })
	lint(t, registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "controller_runtime_reconcile_time_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		counts := map[float64]uint64{}
		for _, b := range h.GetBucket() {
			counts[b.GetUpperBound()] = b.GetCumulativeCount()
		}
		if len(counts) != 40 || counts[0.005] != 2 || counts[0.01] != 3 || counts[50] != 3 || counts[60] != 4 || h.GetSampleCount() != 5 || h.GetSampleSum() != 3660.011 {
			t.Errorf("got %d buckets: %v, count %d, sum %v", len(counts), counts, h.GetSampleCount(), h.GetSampleSum())
		}
		return
	}
	t.Error("there is no histogram")
}

// TestElections: 1 while the process leads; the series ends with the election.
func TestElections(t *testing.T) {
	p, registry := registered(t)
	leading := false
	end := p.BeginElection("maps", func() bool { return leading })
	for _, leads := range []bool{false, true, false} {
		leading = leads
		wantSamples(t, registry, map[string]float64{"leader_election_master_status{maps}": oneIf(leads)})
	}
	lint(t, registry)
	end()
	wantSamples(t, registry, map[string]float64{"leader_election_master_status{maps}": -1})
}

// TestNamelessQueue: its labels are empty.
func TestNamelessQueue(t *testing.T) {
	p, registry := registered(t)
	p.BeginQueue("", fixed(someQueue))
	wantSamples(t, registry, map[string]float64{"workqueue_held{,}": 5})
}
