// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
)

// samples collects the samples that Prometheus would get: name{label values} to the value, or the
// count of a histogram.
func samples(t *testing.T, registry *prom.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			all[family.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return all
}

// The metrics of an informer that syncs, follows changes, finds its watch expired and reads
// everything again.
func TestMetricsOfChangesAndARelist(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	ns := c.crates(t)
	ns.createMany(t, 10)
	registry := prom.NewPedanticRegistry()
	provider, err := prometheus.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, c.url, nil)
	f := factories.New(connect(t, p.url), informer.WithNamespace(ns.namespace), informer.WithMetrics(provider))
	i := factories.For[*Crate](f, crates, informer.WithName("crates"))
	metadata := factories.ForMetadata(f, crates, informer.WithName("metadata"))
	h, _ := listen(t, i, informer.WithHandlerName("audit"))
	if all := samples(t, registry); len(all) != 0 {
		t.Errorf("before the start there is %v", all)
	}
	runSynced(t, f)
	ns.create(t, crate("new"))
	ns.load(t, "crate-000", 1)
	ns.load(t, "crate-000", 2)
	ns.delete(t, "crate-001")
	agree(t, ns.state(t), h, i.Store())
	if err := metadata.AwaitResourceVersion(deadline(t), i.Status().ResourceVersion); err != nil {
		t.Fatal(err)
	}

	version := func() float64 {
		rv, err := strconv.ParseFloat(i.Status().ResourceVersion, 64)
		if err != nil {
			t.Fatal(err)
		}
		return rv
	}
	// Counters may be increased a moment after the effect that they count is visible.
	want := func(what string, want map[string]float64) {
		t.Helper()
		eventually(t, func() error {
			got := samples(t, registry)
			for name, value := range want {
				if v, ok := got[name]; !ok || v != value {
					return fmt.Errorf("%s, %s is %v (there: %v), want %v", what, name, v, ok, value)
				}
			}
			return nil
		})
	}
	want("while watching", map[string]float64{
		"informer_synced{crates}":                                  1,
		"informer_watching{crates}":                                1,
		"informer_objects{crates}":                                 10,
		"informer_listed_objects_total{crates}":                    10,
		"informer_events_total{crates,added}":                      1,
		"informer_events_total{crates,modified}":                   2,
		"informer_events_total{crates,deleted}":                    1,
		"informer_relists_total{crates}":                           0,
		"informer_consecutive_failures{crates}":                    0,
		"informer_bad_data_total{crates}":                          0,
		"informer_queued_events{crates}":                           0,
		"informer_list_duration_seconds{crates}":                   1,
		"informer_resource_version{crates}":                        version(),
		"informer_handler_synced{audit,crates}":                    1,
		"informer_handler_callback_duration_seconds{audit,crates}": 14,
		"informer_handler_backlog_events{audit,crates}":            0,
		"informer_handler_running_seconds{audit,crates}":           0,
		"informer_handler_panics_total{audit,crates}":              0,
		"informer_objects{metadata}":                               10,
		"informer_events_total{metadata,modified}":                 2,
	})

	// The server forgets what comes next. A proxy can hold back one informer's request only, so the
	// other one is stopped.
	if err := f.Stop(deadline(t), metadata); err != nil {
		t.Fatal(err)
	}
	p.disconnect(t)
	ns.load(t, "crate-002", 1)
	ns.delete(t, "crate-003")
	if err := expireWatches(deadline(t), c); err != nil {
		t.Fatal(err)
	}
	p.setFaults(nil)
	p.cut()
	agree(t, ns.state(t), h, i.Store())
	ns.load(t, "crate-004", 1)
	agree(t, ns.state(t), h, i.Store())
	want("after the relist", map[string]float64{
		"informer_synced{crates}":                                  1,
		"informer_watching{crates}":                                1,
		"informer_objects{crates}":                                 9,
		"informer_relists_total{crates}":                           1,
		"informer_failures_total{crates,expired}":                  1,
		"informer_consecutive_failures{crates}":                    0,
		"informer_listed_objects_total{crates}":                    10 + 9,
		"informer_events_total{crates,added}":                      1,
		"informer_events_total{crates,modified}":                   3,
		"informer_events_total{crates,deleted}":                    1,
		"informer_list_duration_seconds{crates}":                   2,
		"informer_resource_version{crates}":                        version(),
		"informer_handler_callback_duration_seconds{audit,crates}": float64(len(h.told())),
	})
	for name := range samples(t, registry) {
		if strings.Contains(name, "metadata") {
			t.Errorf("%s is left of an informer that was stopped", name)
		}
	}

	if err := f.Stop(deadline(t), i); err != nil {
		t.Fatal(err)
	}
	if all := samples(t, registry); len(all) != 0 {
		t.Errorf("after the end there is %v", all)
	}
	if err := f.Start(logged(t.Context(), t)); err != nil {
		t.Fatal(err)
	}
	// it has synced long ago
	awaitStatus(t, i, "watching", watching)
	ns.load(t, "crate-005", 1)
	agree(t, ns.state(t), h, i.Store())
	want("in the second run", map[string]float64{
		"informer_listed_objects_total{crates}":   10 + 9 + 9,
		"informer_events_total{crates,modified}":  4,
		"informer_failures_total{crates,expired}": 1,
		"informer_objects{metadata}":              9,
	})
}
