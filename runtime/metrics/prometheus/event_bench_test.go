// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// BenchmarkEvent passes 1,000 events from the source to a handler's callback, with and without
// metrics, HTTP and decoding left out.
func BenchmarkEvent(b *testing.B) {
	for _, provider := range []string{"none", "prometheus"} {
		b.Run("provider="+provider, func(b *testing.B) {
			var m metrics.Provider
			if provider != "none" {
				m, _ = registered(b)
			}
			source := &bursts{next: make(chan struct{})}
			objects, err := informer.New[object](source,
				informer.WithMetrics(m), informer.WithBacklogThreshold(informer.Never), informer.WithLogger(klog.Logger{}))
			if err != nil {
				b.Fatal(err)
			}
			done, left := make(chan struct{}), burst
			called := func() {
				if left--; left == 0 {
					left = burst
					done <- struct{}{}
				}
			}
			handler := informer.HandlerFuncs[object]{
				AddFunc:    func(object, bool) { called() },
				UpdateFunc: func(_, _ object) { called() },
			}
			if _, err := objects.AddEventHandler(handler); err != nil {
				b.Fatal(err)
			}
			lease, err := objects.Acquire(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := objects.WaitForCacheSync(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				source.next <- struct{}{}
				<-done
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/burst, "ns/event")
			if err := lease.Release(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

const burst = 1000

type object = *metav1.PartialObjectMetadata

// bursts is an empty Source that sends burst events of one object for each value of next.
type bursts struct{ next chan struct{} }

func (*bursts) List(context.Context, source.ListOptions, func(object) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "1"}, nil
}

func (s *bursts) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object]) error) error {
	opened()
	if opts.SendInitialEvents {
		if err := event(source.Event[object]{Type: source.Bookmark, ResourceVersion: "1", InitialEventsEnd: true}); err != nil {
			return err
		}
	}
	for version := 2; ; {
		select {
		case <-s.next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		objects := make([]metav1.PartialObjectMetadata, burst)
		for n := range objects {
			o := &objects[n]
			o.Namespace, o.Name, o.ResourceVersion = "shop", "a", strconv.Itoa(version)
			typ := source.Modified
			if version == 2 {
				typ = source.Added
			}
			if err := event(source.Event[object]{Type: typ, Object: o, ResourceVersion: o.ResourceVersion}); err != nil {
				return err
			}
			version++
		}
	}
}
