// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func newQueues(t *testing.T) (*Queues, *prom.Registry) {
	t.Helper()
	registry := prom.NewPedanticRegistry()
	q, err := NewQueues(registry)
	if err != nil {
		t.Fatal(err)
	}
	return q, registry
}

// fixed returns a function that returns the state.
func fixed(s metrics.QueueState) func() metrics.QueueState {
	return func() metrics.QueueState { return s }
}

var someQueue = metrics.QueueState{
	Depth: [3]int{1, 20, 300}, Oldest: 3 * time.Second, Delayed: 4, Held: 5, Failing: 6,
	Running: 2, RunningFor: 8 * time.Second, LongestRunning: 7 * time.Second, Adds: 1000, Retries: 30,
	Waited: metrics.Durations{Counts: [11]int64{1, 0, 2, 10: 1}, Sum: 20 * time.Second},
	Worked: metrics.Durations{Counts: [11]int64{9: 3}, Sum: 6 * time.Second},
}

func TestEveryQueueMetric(t *testing.T) {
	q, registry := newQueues(t)
	q.BeginQueue("widgets", fixed(someQueue))
	want, err := os.ReadFile("testdata/queues.prom")
	if err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(string(want))); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestQueuesOfOneNameShareTheirSeries: totals stay when one of them has ended.
func TestQueuesOfOneNameShareTheirSeries(t *testing.T) {
	q, registry := newQueues(t)
	end := q.BeginQueue("widgets", fixed(someQueue))
	q.BeginQueue("widgets", fixed(metrics.QueueState{Depth: [3]int{1, 1, 1}, Oldest: time.Second, Adds: 1, Held: 1}))
	gone := q.BeginQueue("gone\xff", fixed(someQueue))
	want := func(text string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(text),
			"workqueue_depth", "workqueue_adds_total", "workqueue_oldest_seconds", "workqueue_held"); err != nil {
			t.Error(err)
		}
	}
	gone()
	gone()
	const head = `
# HELP workqueue_adds_total How often a key came to wait to be handed out.
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="widgets"} 1001
# HELP workqueue_depth Keys that wait to be handed out, by priority: 1, 0 or -1.
# TYPE workqueue_depth gauge
`
	const rest = `
# HELP workqueue_held Keys that wait until the cache has what was written.
# TYPE workqueue_held gauge
workqueue_held{name="widgets"} HELD
# HELP workqueue_oldest_seconds How long the oldest of the keys that are ready has been.
# TYPE workqueue_oldest_seconds gauge
workqueue_oldest_seconds{name="widgets"} OLDEST
`
	want(head + `workqueue_depth{name="widgets",priority="1"} 2
workqueue_depth{name="widgets",priority="0"} 21
workqueue_depth{name="widgets",priority="-1"} 301
` + strings.NewReplacer("HELD", "6", "OLDEST", "3").Replace(rest))
	end()
	want(head + `workqueue_depth{name="widgets",priority="1"} 1
workqueue_depth{name="widgets",priority="0"} 1
workqueue_depth{name="widgets",priority="-1"} 1
` + strings.NewReplacer("HELD", "1", "OLDEST", "1").Replace(rest))
}

func TestQueuesAreRegisteredOnce(t *testing.T) {
	_, registry := newQueues(t)
	_, err := NewQueues(registry)
	if already := (prom.AlreadyRegisteredError{}); !errors.As(err, &already) {
		t.Errorf("got %v", err)
	}
	if _, err := NewQueues(nil); err == nil {
		t.Error("a nil registerer is accepted")
	}
	// Informers' metrics go beside them.
	if _, err := New(registry); err != nil {
		t.Error(err)
	}
}
