// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// stepSource is a Source of decoded objects. It lists its objects, and then runs the test's steps
// on the reader's goroutine.
type stepSource struct {
	objects []object.Object
	version string
	steps   chan func(send func(source.Event[object.Object]) error) error
}

func newStepSource(objects []object.Object) *stepSource {
	return &stepSource{objects, "1000000", make(chan func(func(source.Event[object.Object]) error) error)}
}

func (f *stepSource) List(_ context.Context, _ source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	for _, obj := range f.objects {
		if err := item(obj); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: f.version}, nil
}

func (f *stepSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	opened()
	for {
		select {
		case step := <-f.steps:
			if err := step(event); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// do runs step on the reader's goroutine, and waits for it.
func (f *stepSource) do(step func(send func(source.Event[object.Object]) error) error) {
	done := make(chan struct{})
	f.steps <- func(send func(source.Event[object.Object]) error) error {
		defer close(done)
		return step(send)
	}
	<-done
}

// start runs an informer of the source until the test ends. It waits until the handlers have
// synced.
func (f *stepSource) start(t testing.TB, handlers ...fanout.Handler) *Informer {
	t.Helper()
	i, err := New(Config{Name: "things", Streams: []intake.StreamConfig{{Source: f}},
		// no wait before a relist
		Tuning: reflector.Tuning{DisableWatchList: true, Backoff: reflector.Backoff{ResetAfter: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	var subs []*fanout.Subscription
	for _, h := range handlers {
		s, err := i.AddHandler(h, fanout.HandlerConfig{Threshold: fanout.Never})
		if err != nil {
			t.Fatal(err)
		}
		subs = append(subs, s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = i.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	<-i.Synced()
	for _, s := range subs {
		<-s.Synced()
	}
	return i
}

// someObjects returns n objects, with ascending versions from first on.
func someObjects(n, first int) []object.Object {
	objs := make([]object.Object, n)
	for i := range objs {
		objs[i] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("ns-%d", i%100), Name: fmt.Sprintf("name-%d", i), UID: types.UID(fmt.Sprint("uid-", i)),
			ResourceVersion: strconv.Itoa(first + i),
		}}
	}
	return objs
}

// audience counts the updates of several handlers. It sends to all when the expected number is
// reached.
type audience struct {
	left atomic.Int64
	all  chan struct{}
}

func (a *audience) handlers(n int) []fanout.Handler {
	all := make([]fanout.Handler, n)
	for i := range all {
		all[i] = a
	}
	return all
}

func (a *audience) expect(calls int)          { a.left.Store(int64(calls)) }
func (a *audience) OnAdd(object.Object, bool) {}
func (a *audience) OnDelete(fanout.Deleted)   {}
func (a *audience) OnUpdate(_, _ object.Object) {
	if a.left.Add(-1) == 0 {
		a.all <- struct{}{}
	}
}

// eventStream is an endless series of MODIFIED events, of each object in turn.
type eventStream struct {
	source *stepSource
	audience
	handlers int
	objects  [][]object.Object
	sent     int
}

// newEventStream starts an informer of that many objects. The events of consecutive laps have
// different objects.
func newEventStream(t testing.TB, objects, handlers, laps int) *eventStream {
	e := &eventStream{source: newStepSource(someObjects(objects, 1)), handlers: handlers}
	e.all = make(chan struct{}, 1)
	for lap := range laps {
		e.objects = append(e.objects, someObjects(objects, (lap+1)*1_000_000))
	}
	e.source.start(t, e.audience.handlers(handlers)...)
	return e
}

// send sends n events, and waits until all handlers have them.
func (e *eventStream) send(n int, send func(source.Event[object.Object]) error) {
	if e.handlers > 0 {
		e.expect(n * e.handlers)
	}
	for left := n - 1; left >= 0; left-- {
		lap := e.sent / len(e.objects[0]) % len(e.objects)
		obj := e.objects[lap][e.sent%len(e.objects[0])]
		e.sent++
		_ = send(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: e.source.version, More: left > 0})
	}
	if e.handlers > 0 {
		<-e.all
	}
}

// BenchmarkEvent is a MODIFIED event of one of 10,000 objects, from the source's call until all
// handlers have it: one at a time, and in bursts of 1,000.
func BenchmarkEvent(b *testing.B) {
	for _, how := range []string{"single", "burst"} {
		for _, handlers := range []int{1, 3, 10} {
			b.Run(fmt.Sprintf("%s/%d", how, handlers), func(b *testing.B) {
				burst := 1
				if how == "burst" {
					burst = 1000
				}
				e := newEventStream(b, 10_000, handlers, 2)
				b.ReportAllocs()
				b.ResetTimer()
				e.source.do(func(send func(source.Event[object.Object]) error) error {
					for left := b.N; left > 0; left -= burst {
						e.send(min(burst, left), send)
					}
					return nil
				})
			})
		}
	}
}

type stuckHandler struct{ gate }

func (s stuckHandler) OnAdd(object.Object, bool)             { s.wait("") }
func (s stuckHandler) OnUpdate(object.Object, object.Object) { s.wait("") }
func (s stuckHandler) OnDelete(fanout.Deleted)               { s.wait("") }

// counter closes done with its last call.
type counter struct {
	left int
	done chan struct{}
}

func newCounter(calls int) *counter { return &counter{calls, make(chan struct{})} }

func (c *counter) call() {
	if c.left--; c.left == 0 {
		close(c.done)
	}
}

func (c *counter) OnAdd(object.Object, bool)             { c.call() }
func (c *counter) OnUpdate(object.Object, object.Object) { c.call() }
func (c *counter) OnDelete(fanout.Deleted)               { c.call() }

func (r *script) do(step func(*intake.Sink) error) {
	done := make(chan struct{})
	r.steps <- func(s *intake.Sink) error { defer close(done); return step(s) }
	<-done
}
