// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// reconciling returns a controller that fails for pods by their name, and retries after a minute.
func reconciling(t *testing.T, options controller.Options, watches ...controller.Option) *controller.Controller {
	t.Helper()
	flaky := 0
	reconcile := func(_ context.Context, key object.Key) (controller.Result, error) {
		switch key.Name {
		case "bad":
			return controller.Result{}, errors.New("no more <desks>")
		case "broken":
			return controller.Result{}, controller.Terminal(errors.New("no such color"))
		case "flaky":
			if flaky++; flaky == 1 {
				return controller.Result{}, errors.New("a conflict")
			}
		}
		return controller.Result{}, nil
	}
	options.Queue.Limiter = workqueue.Exponential{Base: time.Minute, Max: time.Minute}
	c, err := controller.New("desks", reconcile, append(watches, options)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func controllers(all ...inspect.Controller) inspect.Option {
	return inspect.WithControllers(func() []inspect.Controller { return all })
}

// TestControllers has a key that fails for long, one that is not retried, and one that has
// recovered.
func TestControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop().factory(t)
		c := reconciling(t, controller.Options{})
		h := inspect.Handler(f, controllers(c), inspect.WithControllerLinks("controllers/"), inspect.WithLeadership(func() inspect.Leadership {
			return inspect.Leadership{Leading: true, Holder: "host-1"}
		}))
		contains(t, page(t, h, "/"), "Controllers This process leads, as host-1.", "desks not running")
		same(t, "the worst of all", reported(t, h, "/").Condition, "healthy") // it may wait to lead
		running := informertest.Go(t, c.Run)
		synctest.Wait()
		c.Enqueue(object.Key{Namespace: "shop", Name: "flaky"})
		time.Sleep(2 * time.Minute)
		contains(t, page(t, h, "/"), "desks healthy 0 of 1 worker 0 none none none 2 1 last error 2 minutes ago, of shop/flaky: a conflict")
		c.Enqueue(object.Key{Namespace: "shop", Name: "bad"}, object.Key{Namespace: "shop", Name: "good"})
		time.Sleep(6*time.Minute + 10*time.Second)

		r := reported(t, h, "/")
		same(t, "leadership", *r.Leadership, inspect.Leadership{Leading: true, Holder: "host-1"})
		got := r.Controllers[0]
		same(t, "totals", got.Totals, map[string]int{"succeeded": 2, "failed": 8})
		same(t, "last minute", got.LastMinute, controller.Recent{Ended: 1, Failed: 1})
		same(t, "condition", []string{r.Condition, got.Condition, got.Name}, []string{"keys fail", "keys fail", "desks"})
		same(t, "last error", []string{got.LastErrorKey, got.LastError}, []string{"shop/bad", "no more <desks>"})
		due := r.Controllers[0].Failing[0].Due
		same(t, "failing", got.Failing, []failingKey{{"shop/bad", "no more <desks>", 7, due}})
		within := time.Until(due)
		same(t, "next try", within > 0 && within <= time.Minute, true)
		same(t, "problems", len(r.Problems), 1)
		same(t, "problem", r.Problems[0].Text, "shop/bad fails; attempt 8 in 50 seconds: no more <desks>")
		contains(t, page(t, h, "/"),
			"(1) Informers", "desks keys fail shop/bad fails; attempt 8 in 50 seconds: no more <desks>",
			"desks keys fail 0 of 1 worker 0 none 1 none 10 (1 in the last minute) 8 (1 in the last minute) shop/bad attempt 8 in 50 seconds: no more <desks>")
		contains(t, get(h, "/", browser).Body.String(), `<th scope="row"><a href="controllers/desks">desks</a></th>`, `<a href="#controller-1">desks</a>`, `<tbody id="controller-1">`)

		c.Enqueue(object.Key{Namespace: "shop", Name: "broken"})
		synctest.Wait()
		contains(t, page(t, h, "/"), "Other keys fail, too.", "shop/broken not tried again before its next event: terminal: no such color")
		in := reported(t, h, "/?key=shop/broken").Key.Controllers[0]
		same(t, "where", []string{in.Where, in.Error}, []string{"not in the queue, until its next event", "terminal: no such color"})
		contains(t, page(t, h, "/?key=shop/bad"), "Controller desks Delayed for 50 seconds more, after 7 failures. The last reconcile failed 10 seconds ago: no more <desks>")
		same(t, "a good key", len(reported(t, h, "/?key=shop/good").Key.Controllers), 0)
		_ = running.End()
	})
}

// TestManyFailingKeysAreCut: the page has ten, and the number of the others.
func TestManyFailingKeysAreCut(t *testing.T) {
	status := controller.Status{Name: "desks", Running: true, Synced: true, Queue: workqueue.Status[object.Key]{Failing: 500}}
	for n := range 100 {
		key := workqueue.KeyStatus[object.Key]{Key: object.Key{Name: fmt.Sprint("k", n)}, Failures: 1, Ready: true, Since: time.Now()}
		status.Failing = append(status.Failing, controller.KeyStatus{KeyStatus: key, Error: "no"})
		status.Queue.Running = append(status.Queue.Running, key)
	}
	h := inspect.Handler(nil, controllers(fixed(status)))
	text := page(t, h, "/")
	contains(t, text, "k9 attempt 2 waits for a worker: no and 490 more keys that fail", "and 90 more")
	if strings.Contains(text, "k10") {
		t.Errorf("the page has more than ten keys: %s", text)
	}
	if n := len(reported(t, h, "/").Controllers[0].Failing); n != 100 {
		t.Errorf("the JSON has %d keys", n)
	}
}

// fixed is a controller with a status.
type fixed controller.Status

func (f fixed) Status() controller.Status                              { return controller.Status(f) }
func (fixed) StatusOf(object.Key) (where controller.KeyStatus, _ bool) { return where, false }

// TestControllersThatDoNotReconcile: one whose run has failed, and one whose informer can't sync.
func TestControllersThatDoNotReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		server.refuse("pods", http.StatusForbidden)
		f := server.factory(t)
		pods := factories.For[*corev1.Pod](f, podResource)
		fails := reconciling(t, controller.Options{SyncTimeout: time.Second}, controller.For(pods))
		waits := reconciling(t, controller.Options{}, controller.For(pods))
		running := informertest.Go(t, waits.Run)
		err := fails.Run(t.Context())
		h := inspect.Handler(f, controllers(waits, fails), inspect.WithLeadership(func() inspect.Leadership { return inspect.Leadership{Holder: "host-2"} }))
		r := reported(t, h, "/")
		same(t, "conditions", []string{r.Controllers[0].Condition, r.Controllers[1].Condition}, []string{"failing", "starting"})
		same(t, "missing", r.Controllers[1].Missing, []string{}) // the informer's failure is shown
		if text := r.Controllers[0].RunError; err == nil || text == "" || !strings.HasSuffix(err.Error(), text) {
			t.Errorf("RunError is %q, Run's error %v", text, err)
		}
		contains(t, page(t, h, "/"), "This process does not lead. The leader is host-2.", "desks failing The run has failed: 1 of 1 informers not synced", "the run failed 1 of 1")
		_ = running.End()
	})
}

func TestLeadershipInWords(t *testing.T) {
	for _, tc := range []struct {
		inspect.Leadership
		want string
	}{
		{inspect.Leadership{}, "This process does not lead. The leader is unknown."},
		{inspect.Leadership{Leading: true}, "This process leads."},
	} {
		same(t, "in words", tc.String(), tc.want)
	}
}

// TestHandlersOfFailingInformers are not shown as if all was well.
func TestHandlersOfFailingInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		allow := server.refuse("pods", http.StatusForbidden)
		f := server.factory(t)
		onAdd(t, factories.For[*corev1.Pod](f, podResource, informer.WithName("pods")), "billing", func(*corev1.Pod) {})
		defer start(t, f)()
		h := inspect.Handler(f)
		state := func() string { return reported(t, h, "/").Informers[0].Handlers[0].Condition }
		same(t, "while it fails", state(), "waiting")
		contains(t, get(h, "/", browser).Body.String(), `<span class="badge off">waiting</span>`)
		allow()
		time.Sleep(time.Minute)
		same(t, "later", state(), "idle")
	})
}

// TestNarrowPageHidesEmptyCells: the style sheet hides their class on narrow screens.
func TestNarrowPageHidesEmptyCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue")).factory(t)
		factories.For[*corev1.Pod](f, podResource)
		defer start(t, f)()
		body := get(inspect.Handler(f), "/", browser).Body.String()
		contains(t, body, `<td data-label="Relists" class="causes none">`, `<td data-label="Objects" class="number"><div>1</div></td>`)
		_, narrow, _ := strings.Cut(body, "@media (max-width: 860px)")
		contains(t, narrow, "td.none { display: none; }", "td { display: flex;")
	})
}
