// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// counter closes done with its last call.
type counter struct {
	left int
	done chan struct{}
}

func count(calls int) *counter { return &counter{calls, make(chan struct{})} }

func (c *counter) call() {
	if c.left--; c.left == 0 {
		close(c.done)
	}
}

func (c *counter) Add(object.Object, bool)             { c.call() }
func (c *counter) Update(object.Object, object.Object) { c.call() }
func (c *counter) Delete(Deleted)                      { c.call() }

func benchObjects(n int, from int) []*metav1.PartialObjectMetadata {
	objs := make([]*metav1.PartialObjectMetadata, n)
	for i := range objs {
		objs[i] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns-%d", i%100), Name: fmt.Sprintf("name-%d", i), ResourceVersion: strconv.Itoa(from + i)}}
	}
	return objs
}

func benchInformer(b *testing.B) (*Informer, *script) {
	i, err := newInformer(Config{Streams: make([]Stream, 1), Handlers: HandlerConfig{Threshold: Never}})
	if err != nil {
		b.Fatal(err)
	}
	r := newScript(i.streams[0])
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = i.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	return i, r
}

func (r *script) do(step func(*sink) error) {
	done := make(chan struct{})
	r.steps <- func(s *sink) error { defer close(done); return step(s) }
	<-done
}

func fill(r *script, objs []*metav1.PartialObjectMetadata) {
	r.do(func(s *sink) error {
		_ = s.BeginReplace()
		for _, obj := range objs {
			_ = s.Replace(obj)
		}
		return s.EndReplace("1")
	})
}

// BenchmarkBurst is an update of one of 10,000 objects, from the reflector's call to the last handler's return, with the
// reflector never waiting for the handlers.
func BenchmarkBurst(b *testing.B) {
	for _, handlers := range []int{0, 1, 3, 10} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			const objects = 10_000
			i, r := benchInformer(b)
			counters := make([]*counter, handlers)
			for n := range counters {
				counters[n] = count(objects + b.N)
				if _, err := i.AddHandler(counters[n], HandlerConfig{Threshold: Never}); err != nil {
					b.Fatal(err)
				}
			}
			fill(r, benchObjects(objects, 1))
			<-i.Synced()
			sets := [][]*metav1.PartialObjectMetadata{benchObjects(objects, 100_000), benchObjects(objects, 200_000)}
			b.ReportAllocs()
			b.ResetTimer()
			r.do(func(s *sink) error {
				for n := range b.N {
					_ = s.Update(sets[n/objects%2][n%objects])
				}
				return s.Bookmark("1000000000")
			})
			for _, c := range counters {
				<-c.done
			}
			if err := i.AwaitResourceVersion(context.Background(), "1000000000"); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkLateHandler is adding a handler to 100,000 objects, and removing it: what the caller waits.
func BenchmarkLateHandler(b *testing.B) {
	i, r := benchInformer(b)
	fill(r, benchObjects(100_000, 1))
	<-i.Synced()
	b.ReportAllocs()
	for b.Loop() {
		s, err := i.AddHandler(count(0), HandlerConfig{Threshold: 1024})
		if err != nil {
			b.Fatal(err)
		}
		s.Remove()
	}
}

// BenchmarkInitialSync is one object of a full state of 100,000, with one handler.
func BenchmarkInitialSync(b *testing.B) {
	objs := benchObjects(100_000, 1)
	b.ReportAllocs()
	for done := 0; done < b.N; done += len(objs) {
		i, r := benchInformer(b)
		s, err := i.AddHandler(count(0), HandlerConfig{Threshold: 1024})
		if err != nil {
			b.Fatal(err)
		}
		fill(r, objs)
		<-s.Synced()
	}
}

// BenchmarkAlone is an update that comes alone, from the reflector's call to the handler's return.
func BenchmarkAlone(b *testing.B) {
	for _, handlers := range []int{1, 3} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			const objects = 10_000
			i, r := benchInformer(b)
			calls := make(chan struct{}, handlers)
			for range handlers {
				if _, err := i.AddHandler(teller(calls), HandlerConfig{Threshold: 1024}); err != nil {
					b.Fatal(err)
				}
			}
			fill(r, benchObjects(objects, 1))
			<-i.Synced()
			sets := [][]*metav1.PartialObjectMetadata{benchObjects(objects, 100_000), benchObjects(objects, 200_000)}
			b.ReportAllocs()
			b.ResetTimer()
			r.do(func(s *sink) error {
				for n := range b.N {
					_ = s.Update(sets[n/objects%2][n%objects])
					for range handlers {
						<-calls
					}
				}
				return nil
			})
		})
	}
}

// teller sends to the channel with each update.
type teller chan<- struct{}

func (c teller) Add(object.Object, bool)             {}
func (c teller) Update(object.Object, object.Object) { c <- struct{}{} }
func (c teller) Delete(Deleted)                      {}
