// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// dashboardMetrics are the series and labels in the queries of dashboards for controller-runtime:
// the two that kubebuilder's plugin grafana writes (Controller-Runtime-Metrics and
// Controller-Resources-Metrics), and below the blank line those in its book's reference of metrics,
// and of client-go's. Prometheus adds the labels instance, job, namespace and pod.
var dashboardMetrics = map[string][]string{
	"controller_runtime_active_workers":         {"controller"},
	"controller_runtime_reconcile_total":        nil,
	"controller_runtime_reconcile_errors_total": nil,
	"workqueue_depth":                           nil,
	"workqueue_queue_duration_seconds_bucket":   {"name", "le"},
	"workqueue_adds_total":                      {"name"},
	"workqueue_unfinished_work_seconds":         nil,
	"workqueue_work_duration_seconds_bucket":    {"name", "le"},
	"workqueue_retries_total":                   {"name"},
	"process_cpu_seconds_total":                 nil,
	"process_resident_memory_bytes":             nil,

	"controller_runtime_max_concurrent_reconciles":       {"controller"},
	"controller_runtime_reconcile_time_seconds_bucket":   {"controller", "le"},
	"controller_runtime_reconcile_time_seconds_sum":      {"controller"},
	"controller_runtime_reconcile_time_seconds_count":    {"controller"},
	"controller_runtime_reconcile_panics_total":          {"controller"},
	"controller_runtime_reconcile_timeouts_total":        {"controller"},
	"controller_runtime_terminal_reconcile_errors_total": {"controller"},
	"workqueue_longest_running_processor_seconds":        {"name", "controller"},
	"rest_client_requests_total":                         {"code", "method", "host"},
	"rest_client_request_duration_seconds_bucket":        {"verb", "host", "le"},
	"leader_election_master_status":                      {"name"},
	"go_goroutines":                                      nil,
}

// TestDashboardsOfControllerRuntime: one call, informer.WithMetrics, is enough for all metrics in
// dashboards of controller-runtime. Their values are those of a leader whose controller has
// succeeded, has failed and has asked for another call.
func TestDashboardsOfControllerRuntime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		registry := r.withMetrics()
		e, err := election.New(r.config, election.Options{Namespace: "shop", Name: "lease-of-maps"})
		if err != nil {
			t.Fatal(err)
		}
		r.create("succeeds", "fails", "again")
		failed := false
		m := r.run(func(o *manager.Options) {
			o.Election = e
			o.Controllers = []manager.Descriptor{r.reconciling("maps", func(ctx context.Context, key object.Key) (controller.Result, error) {
				switch {
				case key.Name == "again":
					return controller.Result{RequeueAfter: time.Hour}, nil
				case key.Name == "fails" && !failed:
					failed = true
					return controller.Result{}, errors.New("once")
				}
				return controller.Result{}, nil
			}, controller.Options{Concurrency: 2})}
		})
		pass(10 * time.Second)
		got := exposed(t, registry)
		for name, labels := range dashboardMetrics {
			if len(got[name]) == 0 {
				t.Errorf("there is no %s", name)
			}
			for _, sample := range got[name] {
				for _, label := range labels {
					if _, ok := sample.labels[label]; !ok {
						t.Errorf("%s has the labels %v, not %s", name, slices.Sorted(maps.Keys(sample.labels)), label)
					}
				}
			}
		}
		host := strings.TrimPrefix(r.config.Host, "http://")
		for _, want := range []struct {
			name   string
			labels map[string]string
			value  float64
		}{
			{"controller_runtime_reconcile_total", map[string]string{"controller": "maps", "result": "success"}, 2},
			{"controller_runtime_reconcile_total", map[string]string{"controller": "maps", "result": "error"}, 1},
			{"controller_runtime_reconcile_total", map[string]string{"controller": "maps", "result": "requeue_after"}, 1},
			{"controller_runtime_reconcile_total", map[string]string{"controller": "maps", "result": "requeue"}, 0},
			{"controller_runtime_reconcile_errors_total", map[string]string{"controller": "maps"}, 1},
			{"controller_runtime_reconcile_time_seconds_count", map[string]string{"controller": "maps"}, 4},
			{"controller_runtime_max_concurrent_reconciles", map[string]string{"controller": "maps"}, 2},
			{"controller_runtime_active_workers", map[string]string{"controller": "maps"}, 0},
			{"workqueue_adds_total", map[string]string{"name": "maps", "controller": "maps"}, 4},
			{"workqueue_retries_total", map[string]string{"name": "maps", "controller": "maps"}, 2},
			{"leader_election_master_status", map[string]string{"name": "lease-of-maps"}, 1},
		} {
			checkSample(t, got, want.name, want.labels, func(value float64) bool { return value == want.value })
		}
		// Requests belong to the process, so other tests have sent some, too.
		for _, want := range []map[string]string{
			{"code": "200", "method": "GET", "host": host},  // of the informer
			{"code": "201", "method": "POST", "host": host}, // of the election
			{"code": "200", "method": "PUT", "host": host},
		} {
			checkSample(t, got, "rest_client_requests_total", want, func(value float64) bool { return value >= 1 })
		}
		checkSample(t, got, "rest_client_request_duration_seconds_count", map[string]string{"verb": "PUT", "host": host}, func(value float64) bool { return value >= 1 })

		problems, err := testutil.GatherAndLint(registry)
		if err != nil || len(problems) > 0 {
			t.Errorf("promlint: %v, %v", problems, err)
		}
		checkGet(t, m.Manager, "/metrics", 200, `controller_runtime_reconcile_total{controller="maps",result="error"} 1`)
		same(t, "the end", errors.Is(m.End(), errStop), true)
		if _, ok := exposed(t, registry)["leader_election_master_status"]; ok {
			t.Error("leader_election_master_status outlives the election")
		}
	})
}

type sample struct {
	labels map[string]string
	value  float64
}

// exposed returns all samples of a registry by the names in the text format.
func exposed(t *testing.T, registry *prom.Registry) map[string][]sample {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]sample{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range m.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			add := func(suffix string, labels map[string]string, value float64) {
				samples[family.GetName()+suffix] = append(samples[family.GetName()+suffix], sample{labels, value})
			}
			h := m.GetHistogram()
			if h == nil {
				add("", labels, m.GetGauge().GetValue()+m.GetCounter().GetValue())
				continue
			}
			add("_sum", labels, h.GetSampleSum())
			add("_count", labels, float64(h.GetSampleCount()))
			withBound := maps.Clone(labels)
			withBound["le"] = "+Inf"
			add("_bucket", withBound, float64(h.GetSampleCount()))
		}
	}
	return samples
}

func checkSample(t *testing.T, got map[string][]sample, name string, labels map[string]string, ok func(float64) bool) {
	t.Helper()
	for _, s := range got[name] {
		if maps.Equal(s.labels, labels) {
			if !ok(s.value) {
				t.Errorf("%s%v is %v", name, labels, s.value)
			}
			return
		}
	}
	t.Errorf("there is no %s%v among %v", name, labels, got[name])
}

// TestMetricsNeedARight: AuthorizeMetrics protects /metrics alone. The status is that of an API
// server's error.
func TestMetricsNeedARight(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.withMetrics()
		var answer error
		m := r.new(func(o *manager.Options) { o.AuthorizeMetrics = func(*http.Request) error { return answer } })
		for want, err := range map[int]error{
			200: nil, 401: apierrors.NewUnauthorized("who"), 403: errors.New("no"), 500: apierrors.NewInternalError(errors.New("down")),
		} {
			answer = err
			same(t, "/metrics", remote(m, "/metrics"), want)
			same(t, "/healthz", remote(m, "/healthz"), 200)
		}
	})
}
