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

// TestWriteIsAwaitedWhateverReconcileReturns: the next reconcile of the key begins a second later,
// when the informer has the write.
func TestWriteIsAwaitedWhateverReconcileReturns(t *testing.T) {
	for name, end := range map[string]func() (result, error){
		"nothing":        func() (result, error) { return result{}, nil },
		"After":          func() (result, error) { return result{RequeueAfter: time.Millisecond}, nil },
		"an error":       func() (result, error) { return result{}, errTry },
		"terminal":       func() (result, error) { return result{}, controller.Terminal(errTry) },
		"a panic":        func() (result, error) { panic("in the test") },
		"runtime.Goexit": func() (result, error) { runtime.Goexit(); return result{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				lag := r.newLag(time.Second)
				calls := once(func(ctx context.Context) (result, error) {
					controller.Wrote(ctx, r.update(lag, "a")[0])
					return end()
				})
				c, _ := r.run(calls, controller.Options{}, controller.For(r.mapInformer, none))
				start := time.Now()
				c.Enqueue(key("a"))
				time.Sleep(time.Millisecond)
				c.Enqueue(key("a"))
				time.Sleep(time.Minute)
				same(t, "reconciles", calls.rounded(start), []time.Duration{0, time.Second})
				same(t, "awaited", c.Status().Totals.Awaited, 1)
			})
		})
	}
}

// TestWroteIgnoresDuplicates: from several goroutines, and ignores calls after the reconcile.
func TestWroteIgnoresDuplicates(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		token := func(version string) object.Token {
			return object.Token{Resource: mapsResource, Key: key("a"), ResourceVersion: version}
		}
		var ended context.Context
		calls := &calls{do: func(ctx context.Context, _ object.Key) (result, error) {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			var all sync.WaitGroup
			for _, version := range []string{"1001", "1002", "1003", "1002"} {
				all.Go(func() { controller.Wrote(child, token(version)) })
			}
			all.Wait()
			controller.Wrote(ctx, object.Token{})
			ended = ctx
			return result{}, nil
		}}
		r.maps.Create(configMap("a"))
		c, _ := r.run(calls, controller.Options{AwaitTimeout: time.Hour}, controller.For(r.mapInformer))
		controller.Wrote(ended, token("1004"))
		controller.Wrote(t.Context(), token("1005"))
		status := c.Status()
		if len(status.Awaiting) != 1 || strings.Count(status.Awaiting[0], " at resourceVersion ") != 3 {
			t.Errorf("Status().Awaiting = %+v, want one line with 3 writes", status.Awaiting)
		}
	})
}

// TestWriterCallsWrote: the write of a failed reconcile is awaited.
func TestWriterCallsWrote(t *testing.T) {
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
		calls := &calls{do: func(ctx context.Context, key object.Key) (result, error) {
			m, _ := r.mapInformer.Store().Snapshot().Get(key)
			if read = append(read, m.Data["n"]); len(read) > 1 {
				return result{}, nil
			}
			if _, _, err := maps.Mutate(ctx, m, func(m *corev1.ConfigMap) error { m.Data = map[string]string{"n": "1"}; return nil }); err != nil {
				t.Error(err)
			}
			return result{}, errTry
		}}
		r.run(calls, controller.Options{}, controller.For(r.mapInformer, func(old, _ *corev1.ConfigMap) bool { return old == nil }))
		time.Sleep(time.Minute)
		calls.take()
		same(t, "the reconciles read", read, []string{"", "1"})
	})
}
