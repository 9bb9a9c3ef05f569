// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// lag delays the events of all watches: each comes a time after its write.
type lag struct {
	by time.Duration

	mu      sync.Mutex           // mu guards the fields below
	written map[string]time.Time // by resourceVersion
}

func (r *rig) newLag(by time.Duration) *lag {
	l := &lag{by: by, written: map[string]time.Time{}}
	r.server.Inject(sourcetest.Fault{On: sourcetest.Watch | sourcetest.WatchList, Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
		a.Events = func(e sourcetest.Event) []sourcetest.Event {
			if obj, ok := e.Object.(object.Object); ok {
				l.mu.Lock()
				at := l.written[obj.GetResourceVersion()]
				l.mu.Unlock()
				time.Sleep(time.Until(at.Add(l.by)))
			}
			return []sourcetest.Event{e}
		}
	}})
	return l
}

// write calls writes, notes the time, and returns the tokens.
func (l *lag) write(writes func() []object.Token) []object.Token {
	l.mu.Lock()
	defer l.mu.Unlock()
	tokens := writes()
	for _, token := range tokens {
		l.written[token.ResourceVersion] = time.Now()
	}
	return tokens
}

// update writes a ConfigMap.
func (r *rig) update(l *lag, name string, change ...func(*corev1.ConfigMap)) []object.Token {
	return l.write(func() []object.Token { return tokenOf(r.maps.Update(configMap(name, change...))) })
}

// wrote reports the writes of a reconcile, and returns its result.
func wrote(ctx context.Context, tokens []object.Token) (result, error) {
	for _, token := range tokens {
		controller.Wrote(ctx, token)
	}
	return result{}, nil
}

func tokenOf(m *corev1.ConfigMap) []object.Token {
	return []object.Token{object.TokenOf(mapsResource, m)}
}

// counter counts in objects: each reconcile reads the cache, and writes the next number.
type counter struct {
	*rig
	lag   *lag
	until int // the last number

	mu     sync.Mutex // mu guards the fields below
	wrote  map[string]int
	stale  int
	writes int
}

func (c *counter) reconcile(ctx context.Context, key object.Key) (result, error) {
	obj, ok := c.mapInformer.Store().Snapshot().Get(key)
	if !ok {
		return result{}, nil
	}
	n, _ := strconv.Atoi(obj.Data["n"])
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < c.wrote[key.Name] {
		c.stale++
	}
	if n >= c.until {
		return result{}, nil
	}
	c.wrote[key.Name], c.writes = n+1, c.writes+1
	next := map[string]string{"n": strconv.Itoa(n + 1)}
	return wrote(ctx, c.update(c.lag, key.Name, func(m *corev1.ConfigMap) { m.Data = next }))
}

// TestReconcileSeesThePreviousWrite: in 10,000 writes, with a watch that lags by 100 ms, while
// other events queue the keys all the time.
func TestReconcileSeesThePreviousWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		const objects, each = 50, 200
		c := &counter{rig: r, lag: r.newLag(100 * time.Millisecond), until: each, wrote: map[string]int{}}
		var keys []object.Key
		for n := range objects {
			keys = append(keys, object.KeyOf(r.maps.Create(configMap(fmt.Sprint("m", n)))))
		}
		controlled := r.new(c.reconcile, controller.Options{Concurrency: 4}, controller.For(r.mapInformer))
		stop := r.start(controlled)
		for range 10 * each {
			time.Sleep(17 * time.Millisecond)
			controlled.Enqueue(keys...)
		}
		time.Sleep(time.Minute)
		_ = stop()
		totals := controlled.Status().Totals
		same(t, "writes, stale reconciles, held, not seen in time", []any{c.writes, c.stale, totals.Awaited, totals.Unseen}, []any{objects * each, 0, objects * each, 0})
	})
}

// TestAwaitingKeyOccupiesNoWorker: and events during the wait become one reconcile.
func TestAwaitingKeyOccupiesNoWorker(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		lag := r.newLag(time.Second)
		calls := once(func(ctx context.Context) (result, error) { return wrote(ctx, r.update(lag, "a")) })
		// The handler may get the write's event after the reconcile.
		added := func(old, _ *corev1.ConfigMap) bool { return old == nil }
		c, _ := r.run(calls, controller.Options{}, controller.For(r.mapInformer, added))
		start := time.Now()
		for range 5 {
			time.Sleep(100 * time.Millisecond)
			c.Enqueue(object.Key{Namespace: "shop", Name: "a"}, key("other"))
		}
		same(t, "meanwhile", calls.take(), []string{"shop/a", "other", "other", "other", "other", "other"})
		status := c.Status()
		if len(status.Awaiting) != 1 || status.Awaiting[0] != "shop/a awaits configmaps shop/a at resourceVersion 3 for 500ms" {
			t.Errorf("Status().Awaiting = %+v", status.Awaiting)
		}
		same(t, "held, running", []int{status.Queue.Held, status.Active}, []int{1, 0})
		time.Sleep(time.Minute)
		same(t, "afterwards", calls.gaps(start), []time.Duration{time.Second})
		same(t, "awaiting", c.Status().Awaiting, []string{})
	})
}

// TestAwaitingIsBounded: after AwaitTimeout the key is reconciled, and the write is counted as
// unseen.
func TestAwaitingIsBounded(t *testing.T) {
	for name, want := range map[string]time.Duration{"by default": 5 * time.Second, "AwaitTimeout": time.Minute} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				lag := r.newLag(time.Hour)
				calls := once(func(ctx context.Context) (result, error) { return wrote(ctx, r.update(lag, "a")) })
				options := controller.Options{}
				if name == "AwaitTimeout" {
					options.AwaitTimeout = want
				}
				c, _ := r.run(calls, options, controller.For(r.mapInformer))
				start := time.Now()
				c.Enqueue(object.Key{Namespace: "shop", Name: "a"})
				time.Sleep(10 * time.Minute)
				same(t, "reconciles", calls.gaps(start), []time.Duration{0, want})
				totals := c.Status().Totals
				same(t, "awaited, not seen in time", []int64{totals.Awaited, totals.Unseen}, []int64{1, 1})
			})
		})
	}
}

// TestOutcomeAfterAnAwaitedWrite: delays begin when the reconcile returns, but the key is not
// reconciled before the hold has ended. Without a delay it is gone.
func TestOutcomeAfterAnAwaitedWrite(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration
		err   error
		want  []time.Duration
	}{
		"nothing":       {want: []time.Duration{0}},
		"After":         {after: time.Minute, want: []time.Duration{0, time.Minute}},
		"a short After": {after: time.Millisecond, want: []time.Duration{0, time.Second}},
		"an error":      {err: errTry, want: []time.Duration{0, time.Second}},
		"terminal":      {err: controller.Terminal(errTry), want: []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				lag := r.newLag(time.Second)
				calls := once(func(ctx context.Context) (result, error) {
					controller.Wrote(ctx, r.update(lag, "a")[0])
					return result{RequeueAfter: test.after}, test.err
				})
				// The filter keeps the write's event from queueing the key.
				c, _ := r.run(calls, controller.Options{}, controller.For(r.mapInformer, none))
				start := time.Now()
				c.Enqueue(key("a"))
				time.Sleep(10 * time.Minute)
				same(t, "reconciles", calls.rounded(start), test.want)
				if _, known := c.StatusOf(key("a")); known {
					t.Error("the queue still has the key")
				}
			})
		})
	}
}

// TestAwaitedWrites: how long each kind of write holds its key back.
func TestAwaitedWrites(t *testing.T) {
	const delay = time.Second
	finalizer := func(m *corev1.ConfigMap) { m.Finalizers = []string{"test/hold"} }
	selected := func(m *corev1.ConfigMap) { m.Labels = map[string]string{"app": "web"} }
	for name, test := range map[string]struct {
		existing *corev1.ConfigMap
		write    func(*rig, *lag) []object.Token
		want     time.Duration
	}{
		"an update": {configMap("m"), func(r *rig, l *lag) []object.Token { return r.update(l, "m") }, delay},
		"a create": {configMap("m"), func(r *rig, l *lag) []object.Token {
			return l.write(func() []object.Token { return tokenOf(r.maps.Create(configMap("new"))) })
		}, delay},
		"a write that changed nothing": {configMap("m"), func(r *rig, l *lag) []object.Token {
			m, _ := r.maps.Get("shop", "m")
			return tokenOf(m)
		}, 0},
		"a delete": {configMap("m"), func(r *rig, l *lag) []object.Token {
			before, _ := r.maps.Get("shop", "m")
			l.write(func() []object.Token { return tokenOf(r.maps.Delete("shop", "m")) })
			token := object.TokenOf(mapsResource, before)
			token.Gone = true
			return []object.Token{token}
		}, delay},
		"a delete of an object with finalizers": {configMap("m", finalizer), func(r *rig, l *lag) []object.Token {
			return l.write(func() []object.Token { return tokenOf(r.maps.Delete("shop", "m")) })
		}, delay},
		"the zero Token": {configMap("m"), func(*rig, *lag) []object.Token { return []object.Token{{}} }, 0},
		"of another resource": {configMap("m"), func(r *rig, _ *lag) []object.Token {
			return []object.Token{object.TokenOf(podsResource, r.pods.Create(pod("p")))}
		}, 0},
		"leaves the selection":   {configMap("m", selected), func(r *rig, l *lag) []object.Token { return r.update(l, "m") }, delay},
		"enters the selection":   {configMap("m"), func(r *rig, l *lag) []object.Token { return r.update(l, "m", selected) }, delay},
		"outside the selection":  {configMap("m"), func(r *rig, l *lag) []object.Token { return r.update(l, "m") }, 5 * time.Second},
		"outside the namespaces": {configMap("m"), func(r *rig, l *lag) []object.Token { return r.update(l, "m") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				there := r.maps.Create(test.existing)
				l := r.newLag(delay)
				informerOf := func(opts ...informer.Option) *informer.SharedIndexInformer[*corev1.ConfigMap] {
					return factories.For[*corev1.ConfigMap](factories.New(r.client), mapsResource, opts...)
				}
				maps := r.mapInformer
				switch {
				case strings.HasSuffix(name, "selection"):
					maps = informerOf(informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"})))
				case strings.HasSuffix(name, "namespaces"):
					maps = informerOf(informer.WithNamespace("elsewhere"))
				}
				calls := once(func(ctx context.Context) (result, error) { return wrote(ctx, test.write(r, l)) })
				c, _ := r.run(calls, controller.Options{}, controller.For(maps, none))
				start := time.Now()
				c.Enqueue(object.KeyOf(there))
				time.Sleep(time.Millisecond)
				c.Enqueue(object.KeyOf(there))
				time.Sleep(time.Minute)
				same(t, "reconciles", calls.gaps(start), []time.Duration{0, max(test.want, time.Millisecond)})
			})
		})
	}
}

// TestAwaitingEndsWithTheRun: it does not delay the end.
func TestAwaitingEndsWithTheRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		never := object.Token{Resource: mapsResource, Key: key("a"), ResourceVersion: "1000000"}
		calls := &calls{do: func(ctx context.Context, _ object.Key) (result, error) { return wrote(ctx, []object.Token{never}) }}
		c, stop := r.run(calls, controller.Options{AwaitTimeout: time.Hour}, controller.For(r.mapInformer))
		same(t, "awaiting", len(c.Status().Awaiting), 1)
		start := time.Now()
		_ = stop()
		same(t, "took", time.Since(start), time.Duration(0))
		same(t, "not seen in time", c.Status().Totals.Unseen, 0)
	})
}

// TestNextRunAwaitsWritesOfTheLastRun: informers that run on may lag; others list again.
func TestNextRunAwaitsWritesOfTheLastRun(t *testing.T) {
	for name, runsOn := range map[string]bool{"the informer runs on": true, "the informer stops": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				lag := r.newLag(time.Second)
				if runsOn {
					lease, err := r.mapInformer.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = lease.Release(context.Background()) }()
				}
				r.maps.Create(configMap("a"))
				var mu sync.Mutex
				written, got := "", ""
				calls := &calls{do: func(ctx context.Context, key object.Key) (result, error) {
					mu.Lock()
					defer mu.Unlock()
					if written != "" {
						obj, _ := r.mapInformer.Store().Snapshot().Get(key)
						got = obj.ResourceVersion
						return result{}, nil
					}
					tokens := r.update(lag, "a")
					written = tokens[0].ResourceVersion
					return wrote(ctx, tokens)
				}}
				c, stop := r.run(calls, controller.Options{}, controller.For(r.mapInformer))
				go func() { _ = stop() }()
				synctest.Wait()
				if !runsOn {
					time.Sleep(time.Minute) // the watch ends with its event
				}
				same(t, "reconciles of the first run", calls.take(), []string{"shop/a"})
				stop = r.start(c)
				time.Sleep(time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if got != written {
					t.Errorf("the next run reads version %s, want the written version %s", got, written)
				}
			})
		})
	}
}
