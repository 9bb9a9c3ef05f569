// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func newPod(name string) *corev1.Pod { return informertest.Pod("shop", name, "") }

// cluster is a server and an informer of its pods. Both belong to one bubble.
type cluster struct {
	*informertest.Shop
	informer *informer.SharedIndexInformer[*corev1.Pod]
}

func newCluster(t testing.TB, opts ...informer.Option) *cluster {
	t.Helper()
	return (&cluster{Shop: informertest.NewShop()}).again(t, opts...)
}

// again returns the cluster with a new informer, as in the next process.
func (c *cluster) again(t testing.TB, opts ...informer.Option) *cluster {
	t.Helper()
	opts = append([]informer.Option{informer.WithName("pods"), informer.WithLogger(klog.Logger{})}, opts...)
	i, err := informer.New(c.Source(t), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{c.Shop, i}
}

// start runs the informer until stop is called.
func (c *cluster) start(t testing.TB) (stop func()) {
	t.Helper()
	lease, err := c.informer.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// waitAndWant is wantSamples in a bubble, when all goroutines wait.
func waitAndWant(t *testing.T, registry *prom.Registry, samples map[string]float64) {
	t.Helper()
	synctest.Wait()
	wantSamples(t, registry, samples)
}

// TestInformerLifecycle has an informer from its start to its end.
func TestInformerLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := registered(t)
		c := newCluster(t, informer.WithMetrics(p), informer.WithBacklogThreshold(2))
		c.Pods.Create(newPod("a"))
		c.Pods.Create(newPod("b"))
		block, entered := make(chan struct{}), make(chan struct{}, 1)
		handler := informer.HandlerFuncs[*corev1.Pod]{
			AddFunc: func(_ *corev1.Pod, initial bool) {
				if !initial {
					panic("not expected")
				}
			},
			UpdateFunc: func(_, pod *corev1.Pod) {
				entered <- struct{}{}
				<-block
			},
		}
		if _, err := c.informer.AddEventHandler(handler, informer.WithHandlerName("queue")); err != nil {
			t.Fatal(err)
		}
		waitAndWant(t, registry, map[string]float64{"informer_objects{pods}": -1})

		// A failure before the first full state.
		end := c.Server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusUnauthorized)})
		stop := c.start(t)
		waitAndWant(t, registry, map[string]float64{
			"informer_failures_total{pods,unauthorized}":             1,
			"informer_consecutive_failures{pods}":                    1,
			"informer_synced{pods}":                                  0,
			"informer_watching{pods}":                                0,
			"informer_resource_version{pods}":                        -1,
			"informer_last_event_timestamp_seconds{pods}":            -1,
			"informer_list_duration_seconds{pods}":                   0,
			"informer_handler_synced{queue,pods}":                    0,
			"informer_handler_callback_duration_seconds{queue,pods}": 0,
		})

		// Recovery.
		end()
		time.Sleep(time.Second)
		waitAndWant(t, registry, map[string]float64{
			"informer_failures_total{pods,unauthorized}":             1,
			"informer_consecutive_failures{pods}":                    0,
			"informer_synced{pods}":                                  1,
			"informer_watching{pods}":                                1,
			"informer_objects{pods}":                                 2,
			"informer_listed_objects_total{pods}":                    2,
			"informer_events_total{pods,added}":                      0,
			"informer_list_duration_seconds{pods}":                   1,
			"informer_handler_synced{queue,pods}":                    1,
			"informer_handler_callback_duration_seconds{queue,pods}": 2,
			"informer_handler_backlog_events{queue,pods}":            0,
			"informer_handler_lag_seconds{queue,pods}":               0,
			"informer_handler_running_seconds{queue,pods}":           0,
		})

		// A callback that panics.
		c.Pods.Create(newPod("c"))
		waitAndWant(t, registry, map[string]float64{
			"informer_events_total{pods,added}":                      1,
			"informer_objects{pods}":                                 3,
			"informer_handler_panics_total{queue,pods}":              1,
			"informer_handler_callback_duration_seconds{queue,pods}": 3,
		})

		// A callback that does not return: events wait, and are merged.
		c.Pods.Update(newPod("a"))
		<-entered
		time.Sleep(2 * time.Second)
		for range 5 {
			c.Pods.Update(newPod("b"))
			c.Pods.Update(newPod("c"))
		}
		time.Sleep(3 * time.Second)
		waitAndWant(t, registry, map[string]float64{
			"informer_events_total{pods,modified}":         11,
			"informer_handler_running_seconds{queue,pods}": 5,
			"informer_handler_lag_seconds{queue,pods}":     3,
			"informer_handler_backlog_events{queue,pods}":  2,
			"informer_handler_merging{queue,pods}":         1,
			"informer_queued_events{pods}":                 0,
			"informer_resource_version{pods}":              number64(t, c.Server.ResourceVersion()),
		})
		close(block)
		<-entered
		<-entered
		c.Pods.Delete("shop", "c")
		c.Server.Bookmark()
		waitAndWant(t, registry, map[string]float64{
			"informer_events_total{pods,deleted}":            1,
			"informer_events_total{pods,bookmark}":           1,
			"informer_objects{pods}":                         2,
			"informer_handler_merging{queue,pods}":           0,
			"informer_handler_backlog_events{queue,pods}":    0,
			"informer_handler_running_seconds{queue,pods}":   0,
			"informer_last_bookmark_timestamp_seconds{pods}": float64(time.Now().Unix()),
		})

		// A relist.
		waitAndWant(t, registry, map[string]float64{"informer_relists_total{pods}": 0, "informer_watch_duration_seconds{pods}": 0})
		end = c.Server.Inject(sourcetest.Fault{Times: 1, Do: sourcetest.Refuse(http.StatusGone)})
		c.Server.EndWatches()
		time.Sleep(time.Second)
		end()
		waitAndWant(t, registry, map[string]float64{
			"informer_relists_total{pods}":          1,
			"informer_failures_total{pods,expired}": 1,
			"informer_list_duration_seconds{pods}":  2,
			"informer_listed_objects_total{pods}":   4,
			"informer_watch_duration_seconds{pods}": 1,
		})

		// The end, and a second run without failures.
		stop()
		for sample := range gather(t, registry) {
			if !outlivesRun(sample) {
				t.Errorf("an informer that does not run has the series %s", sample)
			}
		}
		stop = c.start(t)
		waitAndWant(t, registry, map[string]float64{
			"informer_listed_objects_total{pods}":                    6,
			"informer_list_duration_seconds{pods}":                   3,
			"informer_events_total{pods,modified}":                   11,
			"informer_failures_total{pods,unauthorized}":             1,
			"informer_handler_panics_total{queue,pods}":              1,
			"informer_handler_callback_duration_seconds{queue,pods}": 6 + 1,
		})
		stop()
	})
}

// TestInformerOfSeveralNamespaces: the sum of the streams, or the worst value.
func TestInformerOfSeveralNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := registered(t)
		server := informertest.NewShop(informertest.Pod("shop", "a", ""), informertest.Pod("bank", "a", ""))
		end := server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			if a.Request.Namespace == "bank" {
				a.Status = sourcetest.Status(http.StatusUnauthorized)
			}
		}})
		factory := server.Factory(t, informer.WithMetrics(p), informer.WithLogger(klog.Logger{}))
		factories.For[*corev1.Pod](factory, informertest.PodResource, informer.WithName("pods"), informer.WithNamespace("shop", "bank"))
		if err := factory.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		waitAndWant(t, registry, map[string]float64{
			"informer_objects{pods}":                      1,
			"informer_listed_objects_total{pods}":         1,
			"informer_synced{pods}":                       0,
			"informer_watching{pods}":                     0,
			"informer_consecutive_failures{pods}":         1,
			"informer_failures_total{pods,unauthorized}":  1,
			"informer_resource_version{pods}":             -1,
			"informer_last_event_timestamp_seconds{pods}": -1,
		})
		end()
		time.Sleep(time.Second)
		waitAndWant(t, registry, map[string]float64{
			"informer_objects{pods}":                      2,
			"informer_listed_objects_total{pods}":         2,
			"informer_list_duration_seconds{pods}":        2,
			"informer_synced{pods}":                       1,
			"informer_watching{pods}":                     1,
			"informer_consecutive_failures{pods}":         0,
			"informer_resource_version{pods}":             number64(t, server.ResourceVersion()),
			"informer_last_event_timestamp_seconds{pods}": float64(time.Now().Unix() - 1),
		})
		if err := factory.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func number64(t *testing.T, version string) float64 {
	t.Helper()
	n := number(version)
	if math.IsNaN(n) {
		t.Fatalf("version %q is not a number", version)
	}
	return n
}
