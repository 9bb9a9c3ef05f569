// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// BenchmarkFast measures how long a fast controller takes from a key to its reconcile: alone, and
// in one manager with one that panics on every second key, of which it gets a thousand a second,
// and one that blocks for ever. Compare the figures of p99; 1.2 times is the mark.
//
//	go test ./runtime/manager -run '^$' -bench Fast -benchtime 20000x -count 5
func BenchmarkFast(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchmarkFast(b, false) })
	b.Run("beside", func(b *testing.B) { benchmarkFast(b, true) })
}

func benchmarkFast(b *testing.B, beside bool) {
	done := make(chan time.Time, 1)
	fast := enqueued(b, "fast", func(context.Context, object.Key) (controller.Result, error) {
		done <- time.Now()
		return controller.Result{}, nil
	})
	calls := 0
	panics := enqueued(b, "panics", func(context.Context, object.Key) (controller.Result, error) {
		if calls++; calls%2 == 0 {
			panic("every second")
		}
		return controller.Result{}, nil
	})
	blocks := enqueued(b, "blocks", func(ctx context.Context, _ object.Key) (controller.Result, error) {
		<-ctx.Done()
		return controller.Result{}, nil
	})
	r := &rig{server: sourcetest.New()}
	options := manager.Options{Config: r.server.Config(), Controllers: []manager.Descriptor{descriptorOf(fast)}}
	r.config = options.Config
	options.Factory = r.newFactory()
	if beside {
		options.Controllers = append(options.Controllers, descriptorOf(panics), descriptorOf(blocks))
	}
	m, err := manager.New(options)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	key := object.Key{Namespace: "shop", Name: "blue"}
	blocks.Enqueue(key)
	fast.Enqueue(key)
	<-done // it has begun

	var took []time.Duration
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n := 0; b.Loop(); n++ {
		<-ticker.C
		panics.Enqueue(object.Key{Namespace: "shop", Name: string(rune('a' + n%26))})
		began := time.Now()
		fast.Enqueue(key)
		took = append(took, (<-done).Sub(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// enqueued returns a controller without watches.
func enqueued(b *testing.B, name string, reconcile controller.Reconcile) *controller.Controller {
	c, err := controller.New(name, reconcile, controller.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func descriptorOf(c *controller.Controller) manager.Descriptor {
	return manager.Descriptor{Name: c.Name(), New: func(context.Context, *manager.Context) (manager.Runnable, error) { return c, nil }}
}
