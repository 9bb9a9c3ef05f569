// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestNewRefusesInvalidArguments(t *testing.T) {
	r := newRig(t)
	do := (&calls{}).reconcile
	self := controller.For(r.mapInformer)
	byName := store.NewIndex("ByName", func(p *corev1.Pod, dst []string) []string { return append(dst, p.Name) })
	nameOf := (*corev1.ConfigMap).GetName
	none := func() iter.Seq[object.Key] { return nil }
	type watches = []controller.Watch
	for want, test := range map[string]struct {
		name      string
		reconcile controller.Reconcile
		option    controller.Option
		watches   watches
	}{
		`controller.New "": the name is empty`:                                                                          {"", do, controller.Options{}, nil},
		`controller.New "c": the function is nil`:                                                                       {"c", nil, controller.Options{}, nil},
		`controller.New "c": negative Concurrency -1`:                                                                   {"c", do, controller.Options{Concurrency: -1}, nil},
		`controller.New "c": negative MaxRetries -1`:                                                                    {"c", do, controller.Options{MaxRetries: -1}, nil},
		`controller.New "c": MaxRetries 256: a queue counts 255 failures in a row at most`:                              {"c", do, controller.Options{MaxRetries: 256}, nil},
		`controller.New "c": negative Timeout -1s`:                                                                      {"c", do, controller.Options{Timeout: -time.Second}, nil},
		`controller.New "c": unknown ShutDown 3`:                                                                        {"c", do, controller.Options{ShutDown: workqueue.Drain + 1}, nil},
		`controller.New "c": ShutDown is Finish or Drain, and Grace is 0; set the time to reconcile the remaining keys`: {"c", do, controller.Options{ShutDown: workqueue.Finish}, nil},
		`controller.New "c": one of Reads is nil`:                                                                       {"c", do, controller.Options{Reads: []controller.Informer{nil}}, nil},
		`controller.New "d": one of Reads is nil`:                                                                       {"d", do, controller.Options{Reads: []controller.Informer{(*informer.SharedIndexInformer[*corev1.Pod])(nil)}}, nil},
		`controller.New "c": watch 2: it is the zero value; make it with For, Owns, Indexed, Watches or Every`:          {"c", do, controller.Options{}, watches{self, {}}},
		`controller.New "c": watch 1, For: the informer is nil`:                                                         {"c", do, controller.Options{}, watches{controller.For[*corev1.Pod](nil)}},
		`controller.New "c": watch 1, For: a filter is nil`:                                                             {"c", do, controller.Options{}, watches{controller.For(r.mapInformer, nil)}},
		`controller.New "c": watch 1, Watches: the function is nil`:                                                     {"c", do, controller.Options{}, watches{controller.Watches(r.mapInformer, nil)}},
		`controller.New "c": watch 1, Indexed: the index is nil`:                                                        {"c", do, controller.Options{}, watches{controller.Indexed((*store.Index[*corev1.Pod, string])(nil), r.mapInformer, nameOf)}},
		`controller.New "c": watch 1, Indexed ByName: the controller has no For`:                                        {"c", do, controller.Options{}, watches{controller.Indexed(byName, r.mapInformer, nameOf)}},
		`controller.New "c": watch 2, Owns of pods/v1: the kind of the owners is unknown; set it with For(…).OfKind`:    {"c", do, controller.Options{}, watches{self, controller.Owns(r.podInformer)}},
		`controller.New "c": watch 1, Every 1s: OfKind: the watch was not made by For`:                                  {"c", do, controller.Options{}, watches{controller.Every(time.Second, 0, none).OfKind(mapKind, true)}},
		`controller.New "c": For is given twice`:                                                                        {"c", do, controller.Options{}, watches{self, self}},
		`controller.New "c": option 1: When is for Kind.Reconcile; pass the filters to For`:                             {"c", do, controller.When(controller.LabelsChanged[*corev1.Pod]), nil},
		`controller.New "c": watch 1, Every 0s: the period is not positive`:                                             {"c", do, controller.Options{}, watches{controller.Every(0, 0, none)}},
		`controller.New "c": watch 1, Every 1s: the jitter is negative`:                                                 {"c", do, controller.Options{}, watches{controller.Every(time.Second, -1, none)}},
		`controller.New "c": watch 1, Every 1s: After: negative delay -1s`:                                              {"c", do, controller.Options{}, watches{controller.Every(time.Second, 0, none).After(-time.Second)}},
		`controller.New "c": watch 1, Every 1s: the function is nil`:                                                    {"c", do, controller.Options{}, watches{controller.Every(time.Second, 0, nil)}},
	} {
		if _, err := controller.New(test.name, test.reconcile, optionsOf(test.option, test.watches)...); err == nil || err.Error() != want {
			t.Errorf("New() = %v\nwant    %s", err, want)
		}
	}
}

// TestOptionalResource: a controller begins without a resource that may be missing, and gets its
// events once it exists.
func TestOptionalResource(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		r.pods.Create(pod("b"))
		serve := r.server.Inject(sourcetest.Fault{Resource: podsResource, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusNotFound)})
		pods := factories.For[*corev1.Pod](factories.New(r.client, informer.WithOptionalResource()), podsResource)
		calls := &calls{}
		c, stop := r.run(calls, controller.Options{SyncTimeout: time.Second}, controller.For(r.mapInformer),
			controller.Watches(pods, func(p *corev1.Pod, dst []object.Key) []object.Key { return append(dst, object.KeyOf(p)) }))
		same(t, "reconciles", calls.take(), []string{"shop/a"})
		same(t, "synced", c.Status().Synced, true)
		serve()
		time.Sleep(30 * time.Second)
		same(t, "reconciles once the resource exists", calls.take(), []string{"shop/b"})
		if err := stop(); err != errStop {
			t.Errorf("Run() = %v", err)
		}
	})
}

func TestRunStartsAndStopsItsInformers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		calls := &calls{}
		_, stop := r.run(calls, controller.Options{Reads: []controller.Informer{r.podInformer}}, controller.For(r.mapInformer))
		same(t, "running", []bool{r.mapInformer.Status().Running, r.podInformer.Status().Running}, []bool{true, true})
		same(t, "reconciles", calls.take(), []string{"shop/a"})
		if err := stop(); err != errStop {
			t.Errorf("Run() = %v", err)
		}
		same(t, "running after the end", []bool{r.mapInformer.Status().Running, r.podInformer.Status().Running}, []bool{false, false})
		same(t, "handlers after the end", len(r.mapInformer.Status().Handlers), 0)
	})
}

func TestSharedInformersRunOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		lease, err := r.mapInformer.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, stop := r.run(&calls{}, controller.Options{}, controller.For(r.mapInformer))
		_ = stop()
		same(t, "running", r.mapInformer.Status().Running, true)
		_ = lease.Release(t.Context())
	})
}

// TestNoReconcileBeforeHandlersSync: Run waits for a slow handler of the initial objects, but not
// for handlers of another controller.
func TestNoReconcileBeforeHandlersSync(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		r.pods.Create(pod("p"))
		slow := controller.Watches(r.podInformer, func(p *corev1.Pod, dst []object.Key) []object.Key {
			time.Sleep(time.Minute)
			return append(dst, key("of a Pod"))
		})
		calls, others := &calls{}, &calls{}
		c, _ := r.run(calls, controller.Options{}, controller.For(r.mapInformer), slow)
		r.run(others, controller.Options{}, controller.For(r.mapInformer),
			controller.Watches(r.podInformer, func(p *corev1.Pod, dst []object.Key) []object.Key { return append(dst, object.KeyOf(p)) }))
		c.Enqueue(key("enqueued"))
		time.Sleep(59 * time.Second)
		same(t, "before", calls.take(), []string{})
		same(t, "another controller", others.sorted(), []string{"shop/a", "shop/p"})
		status := c.Status()
		if status.Synced || len(status.Missing) != 1 || !strings.Contains(status.Missing[0], `handler "controller test: Watches of pods/v1" is in OnAdd of shop/p for 59s`) {
			t.Errorf("Status().Missing = %q", status.Missing)
		}
		time.Sleep(2 * time.Second)
		same(t, "after", calls.sorted(), []string{"enqueued", "of a Pod", "shop/a"})
		same(t, "missing", c.Status().Missing, []string{})
	})
}

func TestUnusedInformersDoNotDelayRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		r.server.Inject(sourcetest.Fault{Resource: podsResource, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		lease, err := r.podInformer.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		calls := &calls{}
		r.run(calls, controller.Options{}, controller.For(r.mapInformer))
		same(t, "reconciles", calls.take(), []string{"shop/a"})
		_ = lease.Release(t.Context())
	})
}

func TestRunErrorNamesUnsyncedInformer(t *testing.T) {
	for name, test := range map[string]struct {
		options controller.Options
		watch   func(*rig) controller.Watch
		after   time.Duration // 0: the test ends the run, after a minute
		want    []string
	}{
		"cancelled":   {want: []string{errStop.Error(), "pods/v1 is", "Forbidden"}},
		"SyncTimeout": {options: controller.Options{SyncTimeout: time.Minute}, after: time.Minute, want: []string{"SyncTimeout of 1m0s has passed", "pods/v1 is", "Forbidden"}},
		"FailOn":      {options: controller.Options{Sync: []informer.WaitOption{informer.FailOn()}}, after: time.Millisecond, want: []string{"pods/v1 is", "Forbidden"}},
		"a handler": {
			options: controller.Options{SyncTimeout: time.Minute},
			watch: func(r *rig) controller.Watch {
				return controller.Watches(r.mapInformer, func(*corev1.ConfigMap, []object.Key) []object.Key { time.Sleep(2 * time.Minute); return nil })
			},
			after: 2 * time.Minute, // Run waits for the callback
			want:  []string{"SyncTimeout of 1m0s has passed", `handler "controller test: Watches of configmaps/v1" is in OnAdd of shop/a for 1m0s`},
		},
		"an informer that is only read": {
			options: controller.Options{SyncTimeout: time.Minute},
			watch:   func(r *rig) controller.Watch { return controller.For(r.mapInformer) },
			after:   time.Minute, want: []string{"SyncTimeout of 1m0s has passed", "pods/v1 is", "Forbidden"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				r.server.Inject(sourcetest.Fault{Resource: podsResource, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
				watch := controller.For(r.podInformer)
				if test.watch != nil {
					watch = test.watch(r)
				}
				if strings.Contains(name, "only read") {
					test.options.Reads = []controller.Informer{r.podInformer}
				}
				calls := &calls{}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.after == 0 {
					time.AfterFunc(time.Minute, func() { cancel(errStop) })
				}
				start := time.Now()
				err := r.new(calls.reconcile, test.options, watch).Run(ctx)
				if err == nil {
					t.Fatal("Run() has no error")
				}
				for _, want := range append(test.want, "controller test: Run: ") {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error lacks %q: %v", want, err)
					}
				}
				if test.after == 0 && (!errors.Is(err, errStop) || time.Since(start) != time.Minute) {
					t.Errorf("Run() = %v after %v, want %v after 1m", err, time.Since(start), errStop)
				}
				if test.after > 0 && time.Since(start) > test.after {
					t.Errorf("Run() returned after %v, want %v", time.Since(start), test.after)
				}
				same(t, "reconciles", calls.take(), []string{})
			})
		})
	}
}

func TestRunAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		calls := &calls{}
		c, stop := r.run(calls, controller.Options{}, controller.For(r.mapInformer))
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "it is running") {
			t.Errorf("the second Run() = %v", err)
		}
		_ = stop()
		same(t, "reconciles", calls.take(), []string{"shop/a"})
		c.Enqueue(key("early"), key("early"))
		r.maps.Create(configMap("b"))
		stop = r.start(c)
		time.Sleep(time.Second) // until the informer has listed again
		same(t, "of the second run", calls.sorted(), []string{"early", "shop/a", "shop/b"})
		_ = stop()
		var none context.Context
		same(t, "without a context", c.Run(none), "controller test: Run: the context is nil")
	})
}

// TestRunWaitsForReconciles: their contexts end at once, or after Options.Grace.
func TestRunWaitsForReconciles(t *testing.T) {
	for name, grace := range map[string]time.Duration{"at once": 0, "after the grace": time.Minute} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				var cause error
				var inTime, stillRuns bool
				start := time.Now()
				calls := &calls{do: func(ctx context.Context, key object.Key) (result, error) {
					<-ctx.Done()
					cause, inTime = context.Cause(ctx), time.Since(start) == time.Hour+grace
					time.Sleep(time.Second)
					stillRuns = r.mapInformer.Status().Running
					return result{}, ctx.Err()
				}}
				c, stop := r.run(calls, controller.Options{Grace: grace}, controller.For(r.mapInformer))
				c.Enqueue(key("dropped"))
				time.Sleep(time.Hour)
				if err := stop(); err != errStop {
					t.Errorf("Run() = %v", err)
				}
				same(t, "cause", cause, errStop)
				same(t, "in time, with its informers", []bool{inTime, stillRuns}, []bool{true, true})
				same(t, "took", time.Since(start), time.Hour+grace+time.Second)
				same(t, "reconciles", calls.take(), []string{"shop/a"})
				c.Enqueue(key("kept for the next run"))
			})
		})
	}
}
