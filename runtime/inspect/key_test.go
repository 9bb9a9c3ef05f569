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
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestKeyReport has keys that are stored, not stored, not read and unknown.
func TestKeyReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"), pod("shop", "red"))
		sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		server.refuse("nodes", http.StatusForbidden)
		var log strings.Builder
		f := server.factory(t, informer.WithLogger(informertest.LogTo(&log, 10)))
		all := factories.For[*corev1.Pod](f, podResource)
		factories.For[*corev1.Pod](f, podResource, informer.WithName("bank"), informer.WithNamespace("bank"))
		factories.For[*corev1.Node](f, nodeResource)
		release := make(chan struct{})
		onAdd(t, all, "billing", func(*corev1.Pod) { <-release })
		onAdd(t, all, "quick", func(*corev1.Pod) {})
		defer start(t, f)()
		time.Sleep(3 * time.Second)
		blue, _ := server.Pods.Get("shop", "blue")
		blue.Labels = map[string]string{"color": "blue"}
		server.Pods.Update(blue)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		h := inspect.Handler(f)

		r := reported(t, h, "/?key=shop/blue").Key
		if len(r.Informers) != 3 {
			t.Fatalf("%+v", r)
		}
		pods, bank, nodes := r.Informers[0], r.Informers[1], r.Informers[2]
		if pods.Informer != "pods/v1" || !pods.Stored || pods.ResourceVersion != "4" || pods.Why != "Stored." {
			t.Errorf("%+v", pods)
		}
		// The handler may have been called for the other pod first.
		other := reported(t, h, "/?key=shop/red").Key.Informers[0]
		callbacks := pods.Handlers[0].Callback + other.Handlers[0].Callback
		waits := pods.Handlers[0].Backlog + other.Handlers[0].Backlog
		if len(pods.Handlers) != 1 || pods.Handlers[0].Name != "billing" || callbacks != "OnAdd" || waits != 2 {
			t.Errorf("handlers of blue %+v, of red %+v", pods.Handlers, other.Handlers)
		}
		same(t, "of another namespace", bank.Why, "Not read: the informer reads only namespace bank.")
		contains(t, nodes.Why, "Unknown: the informer has not synced. Forbidden (")
		contains(t, page(t, h, "/?key=shop/blue"), "Where shop/blue is", "pods/v1 resourceVersion 4 Stored.", "Handler billing", "of it, the oldest for")

		close(release)
		synctest.Wait()
		contains(t, page(t, h, "/?key=shop/blue"), "Every handler has handled it.")
		absent := reported(t, h, "/?key=shop/green").Key.Informers[0]
		if absent.Stored || !strings.HasPrefix(absent.Why, "Not stored: at resourceVersion 4 the server had no such object, or a selector") {
			t.Errorf("%+v", absent)
		}
		if strings.Contains(log.String(), "An informer was read before its first sync") {
			t.Error("the page's read was logged as one of the program")
		}
	})
}

// TestKeyReportOfAnOldState: the server is unreachable, or the informer has ended.
func TestKeyReportOfAnOldState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		f := server.factory(t)
		factories.For[*corev1.Pod](f, podResource)
		end := start(t, f)
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusServiceUnavailable)})
		server.EndWatches()
		time.Sleep(time.Minute)
		h := inspect.Handler(f)
		in := reported(t, h, "/?key=shop/blue").Key.Informers[0]
		contains(t, in.Why, "Stored. The server may have a newer state: server error (", "in a row, tries again in")
		same(t, "stored", in.Stored, true)
		end()
		contains(t, reported(t, h, "/?key=shop/blue").Key.Informers[0].Why, "Stored. The server may have a newer state: not running")
	})
}

// TestQueuesOfControllers has a key in each state of a queue.
func TestQueuesOfControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c, err := controller.New("maps", func(_ context.Context, key object.Key) (controller.Result, error) {
			switch key.Name {
			case "running":
				<-release
			case "failing":
				return controller.Result{}, errors.New("no")
			case "delayed":
				return controller.Result{RequeueAfter: time.Hour}, nil
			}
			return controller.Result{}, nil
		}, controller.Options{Queue: workqueue.Options{Limiter: workqueue.Exponential{Base: time.Minute, Max: time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		running := informertest.Go(t, c.Run)
		for _, name := range []string{"failing", "delayed", "running", "ready"} {
			synctest.Wait() // the previous key is with the worker, or done
			c.Enqueue(object.Key{Namespace: "shop", Name: name})
		}
		time.Sleep(10 * time.Second)
		h := inspect.Handler(newShop().factory(t), inspect.WithControllers(nil), inspect.WithControllers(func() []inspect.Controller { return []inspect.Controller{c} }))
		where := func(name string) string {
			in := reported(t, h, "/?key=shop/"+name).Key.Controllers
			if len(in) != 1 || in[0].Controller != "maps" {
				return fmt.Sprint(in)
			}
			return in[0].Where
		}
		same(t, "running", where("running"), "with a worker for 10 seconds")
		same(t, "ready", where("ready"), "ready for 10 seconds")
		same(t, "failing", where("failing"), "delayed for 50 seconds more, after 1 failure")
		same(t, "delayed", where("delayed"), "delayed for 59 minutes more")
		same(t, "unknown", where("unknown"), "[]")
		c.Enqueue(object.Key{Namespace: "shop", Name: "running"})
		same(t, "running and added", where("running"), "with a worker for 10 seconds, and added again meanwhile")
		contains(t, page(t, h, "/"), "maps healthy 1 of 1 worker 1 by priority: 0, 1, 0 shop/ready, for 10 seconds 2 shop/running for 10 seconds, attempt 1 2 (2 in the last minute) 1 (1 in the last minute) shop/failing attempt 2 in 50 seconds: no")
		close(release)
		_ = running.End()
	})
}
