// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestShutDown: when the run ends, a is running and was added again, and b and c are ready. Each
// reconcile takes a second.
func TestShutDown(t *testing.T) {
	for name, test := range map[string]struct {
		mode  workqueue.Mode
		grace time.Duration
		took  time.Duration
		want  []string // after the end has begun
		log   string
	}{
		"drop":             {mode: workqueue.Drop, grace: time.Minute, took: time.Second},
		"finish":           {mode: workqueue.Finish, grace: time.Minute, took: 3 * time.Second, want: []string{"b", "c"}},
		"drain":            {mode: workqueue.Drain, grace: time.Minute, took: 4 * time.Second, want: []string{"b", "c", "a"}},
		"Grace has passed": {mode: workqueue.Drain, grace: 1500 * time.Millisecond, took: 1500 * time.Millisecond, want: []string{"b"}, log: "Options.Grace has passed"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				calls := &calls{do: func(ctx context.Context, _ object.Key) (result, error) {
					select {
					case <-time.After(time.Second):
						return result{}, nil
					case <-ctx.Done():
						return result{}, context.Cause(ctx)
					}
				}}
				c := r.new(calls.reconcile, controller.Options{ShutDown: test.mode, Grace: test.grace}, controller.For(r.mapInformer))
				var log strings.Builder
				ctx, cancel := context.WithCancelCause(klog.NewContext(t.Context(), informertest.LogTo(&log, 0)))
				result := make(chan error, 1)
				go func() { result <- c.Run(ctx) }()
				synctest.Wait()
				c.Enqueue(key("a"), key("b"), key("c"))
				synctest.Wait()
				c.Enqueue(key("a"))
				same(t, "before", calls.take(), []string{"a"})
				start := time.Now()
				cancel(errStop)
				if err := <-result; !errors.Is(err, errStop) {
					t.Error(err)
				}
				same(t, "took", time.Since(start), test.took)
				same(t, "at the end", calls.take(), test.want)
				if !strings.Contains(log.String(), test.log) || test.log == "" && log.Len() > 0 {
					t.Errorf("the log is %q, want %q in it", &log, test.log)
				}
			})
		})
	}
}

// TestShutDownBeforeTheSync: without workers, the end does not wait for queued keys.
func TestShutDownBeforeTheSync(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.server.Inject(sourcetest.Fault{Resource: mapsResource, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		calls := &calls{}
		c, stop := r.run(calls, controller.Options{ShutDown: workqueue.Drain, Grace: time.Hour}, controller.For(r.mapInformer))
		c.Enqueue(key("a"))
		start := time.Now()
		_ = stop()
		same(t, "took", time.Since(start), time.Duration(0))
		same(t, "reconciles", calls.take(), []string{})
	})
}
