// SPDX-License-Identifier: Apache-2.0

//go:build unix

package watchcache_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// benchRig is a running cache of custom resources of 1.25 KB, over a storage without costs.
type benchRig struct {
	cache    *watchcache.Cache
	watchers []*watchcache.Watcher

	objects []*watchcache.Object
	version uint64
	events  chan watchcache.Event
}

func newBenchRig(b *testing.B, objects int) *benchRig {
	b.Helper()
	r := &benchRig{events: make(chan watchcache.Event), version: uint64(objects)}
	for i := range objects {
		r.objects = append(r.objects, benchObject(i, uint64(i+1)))
	}
	var err error
	if r.cache, err = watchcache.New(watchcache.Config{Storage: r}); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.cache.Run(ctx)
	}()
	b.Cleanup(func() { cancel(); <-done })
	if err := r.cache.WaitReady(ctx); err != nil {
		b.Fatal(err)
	}
	r.objects = nil
	return r
}

func (r *benchRig) List(context.Context) ([]*watchcache.Object, uint64, error) {
	return r.objects, r.version, nil
}

func (r *benchRig) Watch(ctx context.Context, _ uint64, emit func(watchcache.Event) error) error {
	for {
		select {
		case e := <-r.events:
			if err := emit(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// update changes object i.
func (r *benchRig) update(i int) {
	r.version++
	r.events <- watchcache.Event{Type: watch.Modified, Object: benchObject(i, r.version), Version: r.version}
}

// benchObject returns object i. 1 of 100 has the label rare.
func benchObject(i int, version uint64) *watchcache.Object {
	o := &watchcache.Object{
		Key: fmt.Sprintf("ns%d/widget-%06d", i%10, i), UID: "uid", Version: version, Bytes: make([]byte, 1250),
		Labels: watchcache.Pairs{{Name: "app", Value: "x"}},
		Fields: watchcache.Pairs{{Name: "spec.node", Value: fmt.Sprintf("node-%d", i)}},
	}
	if i%100 == 0 {
		o.Labels = append(o.Labels, watchcache.Pair{Name: "rare", Value: "yes"})
	}
	return o
}

// BenchmarkDeliver delivers changes to all watchers, which discard the frames: one change after the
// other, or at a rate per second.
func BenchmarkDeliver(b *testing.B) {
	for _, load := range []struct{ watchers, rate int }{{1, 0}, {1000, 0}, {10_000, 0}, {1000, 100}, {10_000, 10}} {
		b.Run(fmt.Sprintf("watchers=%d/rate=%d", load.watchers, load.rate), func(b *testing.B) {
			r := newBenchRig(b, 1000)
			var delivered atomic.Int64
			arrived := make(chan struct{}, b.N)
			for range load.watchers {
				r.watch(b, watchcache.WatchOptions{Format: watchcache.JSON{}, Receive: func(events []watchcache.Event, err error) bool {
					if err != nil {
						return true
					}
					for _, e := range events {
						_, _ = io.Discard.Write(e.Frame)
					}
					for range events {
						if delivered.Add(1)%int64(load.watchers) == 0 {
							arrived <- struct{}{}
						}
					}
					return true
				}})
			}
			b.ReportAllocs()
			b.ResetTimer()
			began, before := time.Now(), cpu()
			for i := range b.N {
				if load.rate > 0 {
					time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(load.rate))))
				}
				r.update(i % 1000)
				if load.rate == 0 {
					<-arrived
				}
			}
			if load.rate > 0 {
				for range b.N {
					<-arrived
				}
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(load.watchers), "cpu-ns/delivery")
		})
	}
}

// BenchmarkOneOfManyFields watches different values of a field. Each change concerns one watcher.
func BenchmarkOneOfManyFields(b *testing.B) {
	for _, watchers := range []int{1, 1000, 10_000} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			r := newBenchRig(b, 10_000)
			arrived := make(chan struct{}, 1)
			for i := range watchers {
				r.watch(b, watchcache.WatchOptions{
					Filter: newFilter("", "", fmt.Sprintf("spec.node=node-%d", i)), Format: watchcache.JSON{},
					Receive: func(_ []watchcache.Event, err error) bool {
						if err == nil {
							arrived <- struct{}{}
						}
						return true
					},
				})
			}
			b.ReportAllocs()
			b.ResetTimer()
			before := cpu()
			for i := range b.N {
				r.update(i % watchers)
				<-arrived
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/change")
		})
	}
}

// BenchmarkIdleWatcher reports the memory of a watcher with nothing to read.
func BenchmarkIdleWatcher(b *testing.B) {
	for name, o := range map[string]watchcache.WatchOptions{
		"receive":           {Receive: func([]watchcache.Event, error) bool { return true }},
		"receive,bookmarks": {Receive: func([]watchcache.Event, error) bool { return true }, Bookmarks: true, Timeout: time.Hour},
		"next":              {},
	} {
		b.Run(name, func(b *testing.B) {
			const watchers = 10_000
			for range b.N {
				r := newBenchRig(b, 1)
				before := heap()
				for range watchers {
					r.watch(b, o)
				}
				b.ReportMetric(float64(heap()-before)/watchers, "B/watcher")
				runtime.KeepAlive(r)
			}
		})
	}
}

// BenchmarkList writes lists of 10,000 objects the way a handler does.
func BenchmarkList(b *testing.B) {
	for name, o := range map[string]watchcache.ListOptions{
		"all":       {},
		"page":      {Limit: 500, From: "ns4/"},
		"label":     {Filter: newFilter("", "rare=yes", "")},
		"labels":    {Filter: newFilter("", "rare in (yes, no)", "")}, // there is no index for it
		"namespace": {Filter: newFilter("ns3", "", "")},
	} {
		b.Run(name, func(b *testing.B) {
			r := newBenchRig(b, 10_000)
			b.ReportAllocs()
			for b.Loop() {
				l, err := r.cache.List(b.Context(), o)
				if err != nil {
					b.Fatal(err)
				}
				for _, obj := range l.Objects {
					_, _ = sink.Write(obj.Bytes)
				}
			}
		})
	}
}

// BenchmarkWatchList reads the initial events of 10,000 objects.
func BenchmarkWatchList(b *testing.B) {
	r := newBenchRig(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		w, err := r.cache.Watch(b.Context(), watchcache.WatchOptions{InitialEvents: true, Bookmarks: true, Format: watchcache.JSON{}})
		if err != nil {
			b.Fatal(err)
		}
		for end := false; !end; {
			events, err := w.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range events {
				_, _ = sink.Write(e.Frame)
				end = e.InitialEnd
			}
		}
		w.Close()
	}
}

// BenchmarkHeap reports the memory of 10,000 objects, as a multiple of their JSON.
func BenchmarkHeap(b *testing.B) {
	for range b.N {
		before := heap()
		r := newBenchRig(b, 10_000)
		l, err := r.cache.List(b.Context(), watchcache.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		bytes := 0
		for _, o := range l.Objects {
			bytes += len(o.Bytes)
		}
		b.ReportMetric(float64(heap()-before)/float64(bytes), "×JSON")
		runtime.KeepAlive(r)
	}
}

func (r *benchRig) watch(b *testing.B, o watchcache.WatchOptions) {
	w, err := r.cache.Watch(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	r.watchers = append(r.watchers, w) // keeps it alive
}

// sink copies its input, like a connection's buffer.
var sink = &copier{}

type copier struct {
	buffer [32 << 10]byte
	n      int
}

func (c *copier) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(c.buffer[c.n:], rest)
		rest = rest[n:]
		if c.n += n; c.n == len(c.buffer) {
			c.n = 0
		}
	}
	return len(p), nil
}

// cpu returns the process's CPU time.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap returns the memory in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
