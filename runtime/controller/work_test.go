// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// sleep returns a reconcile that takes d.
func sleep(d time.Duration) func(context.Context, object.Key) (result, error) {
	return func(context.Context, object.Key) (result, error) {
		time.Sleep(d)
		return result{}, nil
	}
}

func key(name string) object.Key { return object.Key{Name: name} }

// TestEventDuringReconcileRequeuesTheKey: once, and after the reconcile.
func TestEventDuringReconcileRequeuesTheKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := &calls{do: sleep(time.Minute)}
		r.run(calls, controller.Options{Concurrency: 2}, controller.For(r.mapInformer))
		start := time.Now()
		r.maps.Create(configMap("a"))
		synctest.Wait()
		r.maps.Update(configMap("a"))
		r.maps.Update(configMap("a"))
		time.Sleep(time.Hour)
		same(t, "reconciles", calls.gaps(start), []time.Duration{0, time.Minute})
	})
}

func TestErrorsAreRetriedWithBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		n := 0
		calls := &calls{do: func(context.Context, object.Key) (result, error) {
			if n++; n == 5 {
				return result{}, nil
			}
			return result{}, fmt.Errorf("%d: %w", n, errTry)
		}}
		c, _ := r.run(calls, controller.Options{})
		start := time.Now()
		c.Enqueue(key("a"))
		time.Sleep(time.Hour)
		gaps := calls.gaps(start)
		if len(gaps) != 5 {
			t.Fatalf("reconciles after %v, want 5", gaps)
		}
		for n, gap := range gaps[1:] {
			if delay := 5 * time.Millisecond << n; gap > delay || gap < delay*9/10 {
				t.Errorf("the delay after failure %d is %v, want %v to %v", n+1, gap, delay*9/10, delay)
			}
		}
		status := c.Status()
		same(t, "totals", []int64{status.Totals.Failed, status.Totals.Succeeded}, []int64{4, 1})
		same(t, "last error", status.LastErrorKey+" "+status.LastError, "a 4: "+errTry.Error())
		n = 0
		start = time.Now()
		c.Enqueue(key("a"))
		time.Sleep(time.Hour)
		if gaps := calls.gaps(start); gaps[1] > 5*time.Millisecond {
			t.Errorf("the first delay after a success is %v, want at most 5ms", gaps[1])
		}
	})
}

func TestTerminalErrorIsNotRetried(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		again := result{}
		calls := &calls{do: func(context.Context, object.Key) (result, error) {
			return again, fmt.Errorf("wrapped: %w", controller.Terminal(errTry))
		}}
		c, _ := r.run(calls, controller.Options{})
		c.Enqueue(key("a"))
		time.Sleep(time.Hour)
		same(t, "reconciles", calls.take(), []string{"a"})
		if _, known := c.StatusOf(key("a")); known {
			t.Error("the queue still has the key")
		}
		c.Enqueue(key("a"))
		same(t, "with its next event", calls.take(), []string{"a"})
		again.RequeueAfter = 50 * time.Minute
		c.Enqueue(key("a"))
		time.Sleep(time.Hour)
		same(t, "with After", calls.take(), []string{"a", "a"})
		same(t, "totals", c.Status().Totals.Terminal, 4)
		if err := controller.Terminal(errTry); !errors.Is(err, errTry) || controller.Terminal(nil) != nil {
			t.Errorf("Terminal() = %v, Terminal(nil) = %v", err, controller.Terminal(nil))
		}
	})
}

// TestMaxRetries: at most the count of the queue.
func TestMaxRetries(t *testing.T) {
	for _, limit := range []int{2, 255} {
		inBubble(t, func(t *testing.T, r *rig) {
			calls := &calls{do: func(context.Context, object.Key) (result, error) { return result{}, errTry }}
			c, _ := r.run(calls, controller.Options{MaxRetries: limit})
			for range 2 {
				c.Enqueue(key("a"))
				time.Sleep(255 * time.Hour)
				same(t, "reconciles", len(calls.take()), limit+1)
			}
		})
	}
}

func TestRequeueAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		n := 0
		calls := &calls{do: func(context.Context, object.Key) (result, error) {
			if n++; n > 2 {
				return result{}, nil
			}
			return result{RequeueAfter: time.Minute}, nil
		}}
		c, _ := r.run(calls, controller.Options{})
		start := time.Now()
		c.Enqueue(key("a"))
		time.Sleep(90 * time.Second)
		c.Enqueue(key("a")) // cancels the second one's RequeueAfter
		time.Sleep(time.Hour)
		same(t, "reconciles", calls.gaps(start), []time.Duration{0, time.Minute, 30 * time.Second})
		totals := c.Status().Totals
		same(t, "totals", []int64{totals.Again, totals.Succeeded, totals.Failed}, []int64{2, 1, 0})
	})
}

// TestRequeueAfterWithAnError: the shorter delay counts.
func TestRequeueAfterWithAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		n := 0
		calls := &calls{do: func(context.Context, object.Key) (result, error) {
			switch n++; {
			case n == 1:
				return result{RequeueAfter: time.Hour}, errTry
			case n < 12:
				return result{RequeueAfter: time.Second}, errTry
			}
			return result{}, nil
		}}
		c, _ := r.run(calls, controller.Options{})
		start := time.Now()
		c.Enqueue(key("a"))
		time.Sleep(3 * time.Hour)
		gaps := calls.gaps(start)
		if len(gaps) != 12 {
			t.Fatalf("reconciles after %v, want 12", gaps)
		}
		if gaps[1] > 5*time.Millisecond {
			t.Errorf("RequeueAfter of 1h with the first failure: a delay of %v, want at most 5ms", gaps[1])
		}
		if gaps[11] != time.Second {
			t.Errorf("RequeueAfter of 1s with the eleventh failure: a delay of %v, want 1s", gaps[11])
		}
	})
}

func TestPanicIsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		n := 0
		calls := &calls{do: func(context.Context, object.Key) (result, error) {
			switch n++; n {
			case 1:
				panic("in the test")
			case 2:
				runtime.Goexit()
			}
			return result{}, nil
		}}
		c, _ := r.run(calls, controller.Options{})
		c.Enqueue(key("a"))
		time.Sleep(time.Hour)
		same(t, "reconciles", calls.take(), []string{"a", "a", "a"})
		status := c.Status()
		same(t, "panics, failed", []int64{status.Totals.Panics, status.Totals.Failed}, []int64{1, 2})
		same(t, "last error", status.LastError, "the reconcile has called runtime.Goexit")
		same(t, "active", status.Active, 0)
	})
}

func TestPanicIsLoggedWithStack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.new(func(context.Context, object.Key) (result, error) { panic("in the test") }, controller.Options{MaxRetries: 1})
		logs(t.Context(), t, c, "panic: in the test", `"controller"="test"`, `"key"="shop/a"`, "TestPanicIsLoggedWithStack", "not retried")
	})
}

// logs runs a controller with a key for an hour, and checks that its log has texts.
func logs(ctx context.Context, t *testing.T, c *controller.Controller, texts ...string) {
	t.Helper()
	var log strings.Builder
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, informertest.LogTo(&log, 0)))
	var wg sync.WaitGroup
	wg.Go(func() { _ = c.Run(ctx) })
	c.Enqueue(object.Key{Namespace: "shop", Name: "a"})
	time.Sleep(time.Hour)
	cancel()
	wg.Wait()
	for _, want := range texts {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, &log)
		}
	}
}

func TestTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		own := false
		calls := &calls{do: func(ctx context.Context, key object.Key) (result, error) {
			if own {
				shorter, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				ctx = shorter
			}
			<-ctx.Done()
			return result{}, controller.Terminal(context.Cause(ctx))
		}}
		c, _ := r.run(calls, controller.Options{Timeout: time.Minute})
		c.Enqueue(key("a"))
		time.Sleep(59 * time.Second)
		same(t, "active", c.Status().Active, 1)
		time.Sleep(2 * time.Second)
		status := c.Status()
		same(t, "timeouts", status.Totals.Timeouts, 1)
		same(t, "error", status.LastError, "terminal: Options.Timeout has passed")
		own = true
		c.Enqueue(key("b"))
		time.Sleep(time.Hour)
		same(t, "timeouts after a shorter one of the reconcile", c.Status().Totals.Timeouts, 1)
	})
}

func TestContextLoggerHasControllerAndKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		type mine struct{}
		c := r.new(func(ctx context.Context, key object.Key) (result, error) {
			klog.FromContext(ctx).Info("Reconciling")
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			klog.FromContext(child).Info("In a child", "mine", child.Value(mine{}))
			return result{}, nil
		}, controller.Options{Timeout: time.Minute})
		logs(context.WithValue(t.Context(), mine{}, "value"), t, c,
			`"msg"="Reconciling" "controller"="test" "key"="shop/a"`, `"msg"="In a child" "controller"="test" "key"="shop/a" "mine"="value"`)
	})
}

func TestConcurrency(t *testing.T) {
	for want, concurrency := range map[int]int{1: 0, 5: 5} {
		inBubble(t, func(t *testing.T, r *rig) {
			c, _ := r.run(&calls{do: sleep(time.Minute)}, controller.Options{Concurrency: concurrency})
			for n := range 100 {
				c.Enqueue(key(fmt.Sprint(n)))
			}
			synctest.Wait()
			same(t, "active", c.Status().Active, want)
			same(t, "concurrency", c.Status().Concurrency, want)
		})
	}
}

func TestFilters(t *testing.T) {
	spec := func(generation int64, labels ...string) *corev1.Pod {
		p := pod("p")
		p.Generation = generation
		for _, l := range labels {
			p.Labels = map[string]string{"app": l}
		}
		return p
	}
	for name, test := range map[string]struct {
		filter   controller.Filter[*corev1.Pod]
		old, new *corev1.Pod
		want     bool
	}{
		"generation: added":             {controller.GenerationChanged[*corev1.Pod], nil, spec(1), true},
		"generation: deleted":           {controller.GenerationChanged[*corev1.Pod], spec(1), nil, true},
		"generation: changed":           {controller.GenerationChanged[*corev1.Pod], spec(1), spec(2), true},
		"generation: the status":        {controller.GenerationChanged[*corev1.Pod], spec(1), spec(1, "web"), false},
		"generation: the kind has none": {controller.GenerationChanged[*corev1.Pod], spec(0), spec(0), true},
		"labels: added":                 {controller.LabelsChanged[*corev1.Pod], nil, spec(1), true},
		"labels: deleted":               {controller.LabelsChanged[*corev1.Pod], spec(1), nil, true},
		"labels: changed":               {controller.LabelsChanged[*corev1.Pod], spec(1), spec(1, "web"), true},
		"labels: equal":                 {controller.LabelsChanged[*corev1.Pod], spec(1, "web"), spec(2, "web"), false},
	} {
		if got := test.filter(test.old, test.new); got != test.want {
			t.Errorf("%s: the filter returns %v, want %v", name, got, test.want)
		}
	}
}

func TestAllFiltersMustAccept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := &calls{}
		r.run(calls, controller.Options{}, controller.For(r.podInformer, controller.GenerationChanged, controller.LabelsChanged))
		change := func(generation int64, label string) func(*corev1.Pod) {
			return func(p *corev1.Pod) { p.Generation, p.Labels = generation, map[string]string{"app": label} }
		}
		r.pods.Create(pod("p", change(1, "a")))
		same(t, "created", calls.take(), []string{"shop/p"})
		r.pods.Update(pod("p", change(2, "a")))
		r.pods.Update(pod("p", change(2, "b")))
		same(t, "one changed", calls.take(), []string{})
		r.pods.Update(pod("p", change(3, "c")))
		same(t, "both changed", calls.take(), []string{"shop/p"})
	})
}
