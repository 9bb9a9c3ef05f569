// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func never[T any](_, _ T) bool { return false }

// TestWhatWasWrittenIsAwaitedWhateverIsReturned: the next reconcile of the key begins when the
// informer has the write, a second later.
func TestWhatWasWrittenIsAwaitedWhateverIsReturned(t *testing.T) {
	for name, end := range map[string]func() (controller.Result, error){
		"nothing":        func() (controller.Result, error) { return controller.Result{}, nil },
		"After":          func() (controller.Result, error) { return controller.Result{RequeueAfter: time.Millisecond}, nil },
		"an error":       func() (controller.Result, error) { return controller.Result{}, errTry },
		"terminal":       func() (controller.Result, error) { return controller.Result{}, controller.Terminal(errTry) },
		"a panic":        func() (controller.Result, error) { panic("in the test") },
		"runtime.Goexit": func() (controller.Result, error) { runtime.Goexit(); return controller.Result{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				lag, n := r.lag(time.Second), 0
				calls := &calls{do: func(ctx context.Context, _ object.Key) (controller.Result, error) {
					if n++; n > 1 {
						return controller.Result{}, nil
					}
					controller.Wrote(ctx, r.update(lag, "a")[0])
					return end()
				}}
				c, _ := r.run(calls, controller.Options{}, controller.For(r.mapInformer, never[*corev1.ConfigMap]))
				start := time.Now()
				c.Enqueue(key("a"))
				time.Sleep(time.Millisecond)
				c.Enqueue(key("a"))
				time.Sleep(time.Minute)
				gaps := calls.gaps(start)
				for n := range gaps {
					gaps[n] = gaps[n].Round(10 * time.Millisecond)
				}
				same(t, "reconciles", gaps, []time.Duration{0, time.Second})
				same(t, "awaited", c.Status().Totals.Awaited, 1)
			})
		})
	}
}

// TestWroteMergesWithAwait, and takes what several goroutines say, until the reconcile returns.
func TestWroteMergesWithAwait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		token := func(version string) object.Token {
			return object.Token{Resource: mapsResource, Key: key("a"), ResourceVersion: version}
		}
		var late context.Context
		calls := &calls{do: func(ctx context.Context, _ object.Key) (controller.Result, error) {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			var all sync.WaitGroup
			for _, version := range []string{"1001", "1002"} {
				all.Go(func() { controller.Wrote(child, token(version)) })
			}
			all.Wait()
			controller.Wrote(ctx, object.Token{})
			late = ctx
			return controller.Result{Await: []object.Token{token("1002"), token("1003")}}, nil
		}}
		r.maps.Create(configMap("a"))
		c, _ := r.run(calls, controller.Options{AwaitTimeout: time.Hour}, controller.For(r.mapInformer))
		controller.Wrote(late, token("1004"))
		controller.Wrote(t.Context(), token("1005"))
		status := c.Status()
		if len(status.Awaiting) != 1 || strings.Count(status.Awaiting[0], " at resourceVersion ") != 3 {
			t.Errorf("awaiting: %+v", status.Awaiting)
		}
	})
}

// TestAWriterTellsTheController: the write before an error is awaited, over a watch that lags.
func TestAWriterTellsTheController(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		maps, err := writer.New[*corev1.ConfigMap](r.client, mapsResource, writer.Options{OnWrite: controller.Wrote})
		if err != nil {
			t.Fatal(err)
		}
		r.server.Inject(sourcetest.Fault{On: sourcetest.Watch | sourcetest.WatchList, Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			a.Events = func(e sourcetest.Event) []sourcetest.Event {
				time.Sleep(time.Second)
				return []sourcetest.Event{e}
			}
		}})
		var read []string
		calls := &calls{do: func(ctx context.Context, key object.Key) (controller.Result, error) {
			m, _ := r.mapInformer.Store().Snapshot().Get(key)
			if read = append(read, m.Data["n"]); len(read) > 1 {
				return controller.Result{}, nil
			}
			if _, _, err := maps.Mutate(ctx, m, func(m *corev1.ConfigMap) error { m.Data = map[string]string{"n": "1"}; return nil }); err != nil {
				t.Error(err)
			}
			return controller.Result{}, errTry
		}}
		r.run(calls, controller.Options{}, controller.For(r.mapInformer, func(old, _ *corev1.ConfigMap) bool { return old == nil }))
		time.Sleep(time.Minute)
		calls.take()
		same(t, "what the reconciles read", read, []string{"", "1"})
	})
}
