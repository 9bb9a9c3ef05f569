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

// feed is a Source whose objects are decoded already. On the reader's goroutine it hands over a
// list of objects, and then runs the functions that it is sent.
type feed struct {
	objects []object.Object
	version string
	steps   chan func(tell func(source.Event[object.Object]) error) error
}

func newFeed(objects []object.Object) *feed {
	return &feed{objects, "1000000", make(chan func(func(source.Event[object.Object]) error) error)}
}

func (f *feed) List(_ context.Context, _ source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	for _, obj := range f.objects {
		if err := item(obj); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: f.version}, nil
}

func (f *feed) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
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
func (f *feed) do(step func(tell func(source.Event[object.Object]) error) error) {
	done := make(chan struct{})
	f.steps <- func(tell func(source.Event[object.Object]) error) error {
		defer close(done)
		return step(tell)
	}
	<-done
}

// start runs an informer of the feed until the test ends. It waits until handlers have synced.
func (f *feed) start(t testing.TB, handlers ...fanout.Handler) *Informer {
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

// someObjects returns n objects, of versions from first on.
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

// audience is a set of handlers; wait returns when all of them have been called often enough.
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

// events is an endless series of MODIFIED events, of one object after the other.
type events struct {
	feed *feed
	audience
	handlers int
	objects  [][]object.Object
	sent     int
}

// newEvents makes an informer of that many objects. The events of one lap have other objects than
// those of the next.
func newEvents(t testing.TB, objects, handlers, laps int) *events {
	e := &events{feed: newFeed(someObjects(objects, 1)), handlers: handlers}
	e.all = make(chan struct{}, 1)
	for lap := range laps {
		e.objects = append(e.objects, someObjects(objects, (lap+1)*1_000_000))
	}
	e.feed.start(t, e.audience.handlers(handlers)...)
	return e
}

// tell sends n events and waits until all handlers have them.
func (e *events) tell(n int, tell func(source.Event[object.Object]) error) {
	if e.handlers > 0 {
		e.expect(n * e.handlers)
	}
	for left := n - 1; left >= 0; left-- {
		lap := e.sent / len(e.objects[0]) % len(e.objects)
		obj := e.objects[lap][e.sent%len(e.objects[0])]
		e.sent++
		_ = tell(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: e.feed.version, More: left > 0})
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
				e := newEvents(b, 10_000, handlers, 2)
				b.ReportAllocs()
				b.ResetTimer()
				e.feed.do(func(tell func(source.Event[object.Object]) error) error {
					for left := b.N; left > 0; left -= burst {
						e.tell(min(burst, left), tell)
					}
					return nil
				})
			})
		}
	}
}

type standing struct{ gate }

func (s standing) OnAdd(object.Object, bool)             { s.wait("") }
func (s standing) OnUpdate(object.Object, object.Object) { s.wait("") }
func (s standing) OnDelete(fanout.Deleted)               { s.wait("") }

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

func (c *counter) OnAdd(object.Object, bool)             { c.call() }
func (c *counter) OnUpdate(object.Object, object.Object) { c.call() }
func (c *counter) OnDelete(fanout.Deleted)               { c.call() }

func (r *script) do(step func(*intake.Sink) error) {
	done := make(chan struct{})
	r.steps <- func(s *intake.Sink) error { defer close(done); return step(s) }
	<-done
}
