// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// informerMetrics is a Provider without the other interfaces.
type informerMetrics struct{ metrics.Provider }

func (informerMetrics) BeginInformer(string, func() metrics.InformerState) metrics.InformerRecorder {
	return noRecorder{}
}

// allMetrics is also a ControllerProvider. It notes what begins.
type allMetrics struct {
	informerMetrics
	name  string
	begun []string
	read  func() metrics.ControllerState
}

func (m *allMetrics) BeginQueue(name string, _ func() metrics.QueueState) (end func()) {
	m.begun = append(m.begun, m.name+" queue "+name)
	return func() {}
}

func (m *allMetrics) BeginController(name string, read func() metrics.ControllerState) (end func()) {
	m.begun, m.read = append(m.begun, m.name+" controller "+name), read
	return func() {}
}

type noRecorder struct{}

func (noRecorder) ListDone(time.Duration, int)  {}
func (noRecorder) WatchDone(time.Duration, int) {}
func (noRecorder) BatchDone(time.Duration, int) {}
func (noRecorder) Failed(string)                {}
func (noRecorder) Close()                       {}
func (noRecorder) BeginHandler(string, func() metrics.HandlerState) metrics.HandlerRecorder {
	return noHandlerRecorder{}
}

type noHandlerRecorder struct{}

func (noHandlerRecorder) CallbackDone(time.Duration, bool) {}
func (noHandlerRecorder) Close()                           {}

// TestMetricsOfTheInformers: a controller without Options.Metrics uses the first provider for
// controllers of its informers, also for its queue.
func TestMetricsOfTheInformers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		plain := factories.New(r.client, informer.WithMetrics(informerMetrics{}))
		first, second, own := &allMetrics{name: "first"}, &allMetrics{name: "second"}, &allMetrics{name: "own"}
		withFirst := factories.New(r.client, informer.WithMetrics(first))
		withSecond := factories.New(r.client, informer.WithMetrics(second))
		watch := controller.For(factories.For[*corev1.ConfigMap](plain, mapsResource))
		owned := controller.Watches(factories.For[*corev1.Pod](withFirst, podsResource), func(*corev1.Pod, []object.Key) []object.Key { return nil })
		reads := factories.For[*corev1.Pod](withSecond, podsResource)
		for name, test := range map[string]struct {
			options controller.Options
			watches []controller.Watch
			want    []string
		}{
			"none":         {controller.Options{}, []controller.Watch{watch}, nil},
			"of a watch":   {controller.Options{Reads: []controller.Informer{reads}}, []controller.Watch{watch, owned}, []string{"first queue test", "first controller test"}},
			"of Reads":     {controller.Options{Reads: []controller.Informer{reads}}, []controller.Watch{watch}, []string{"second queue test", "second controller test"}},
			"of Options":   {controller.Options{Metrics: own}, []controller.Watch{owned}, []string{"own queue test", "own controller test"}},
			"not informed": {controller.Options{}, nil, nil},
		} {
			first.begun, second.begun, own.begun = nil, nil, nil
			_, stop := r.run(&calls{}, test.options, test.watches...)
			_ = stop()
			if got := slices.Concat(first.begun, second.begun, own.begun); !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, want %q", name, got, test.want)
			}
		}
	})
}

// TestDurationsOfReconciles also counts reconciles that fail or panic.
func TestDurationsOfReconciles(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := &allMetrics{}
		took := map[string]time.Duration{"fast": 0, "slow": time.Second, "panics": 2 * time.Minute}
		c, stop := r.run(&calls{do: func(_ context.Context, key object.Key) (result, error) {
			time.Sleep(took[key.Name]) // in a bubble
			if key.Name == "panics" {
				panic("late")
			}
			return result{}, nil
		}}, controller.Options{Metrics: m, MaxRetries: 1})
		for name := range took {
			c.Enqueue(object.Key{Name: name})
		}
		informertest.Pass(time.Hour)
		counts := map[int]int64{}
		state := m.read()
		for n, count := range state.Took.Counts {
			if count > 0 {
				counts[n] = count
			}
		}
		second, _ := slices.BinarySearch(metrics.ReconcileBounds(), time.Second)
		if want := (metrics.ReconcileTotals{Succeeded: 2, Failed: 2, Panics: 2}); state.Totals != want || len(counts) != 3 || counts[0] != 1 || counts[second] != 1 || counts[40] != 2 || state.Took.Sum != 4*time.Minute+time.Second {
			t.Errorf("got %v in %v, totals %+v", counts, state.Took.Sum, state.Totals)
		}
		_ = stop()
	})
}
