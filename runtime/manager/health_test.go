// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestTheStuckOneIsNamed: of three controllers one panics on every second key, one blocks for ever,
// one is fast. A second later, health, page and metrics name the one that blocks, the page and
// health its key, and the fast one has done its work.
func TestTheStuckOneIsNamed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		registry := prom.NewRegistry()
		controllers, err := prometheus.NewControllers(registry)
		if err != nil {
			t.Fatal(err)
		}
		release, done := make(chan struct{}), map[object.Key]bool{}
		calls := 0
		m := r.run(func(o *manager.Options) {
			o.Metrics, o.MetricsHandler = controllers, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
			stuck := reconciling("stuck", func(_ context.Context, key object.Key) (controller.Result, error) {
				if key.Name == "blue" {
					<-release
				}
				return controller.Result{}, nil
			}, controller.Options{})
			stuck.KeyLimit = 900 * time.Millisecond
			o.Controllers = []manager.Descriptor{stuck,
				reconciling("panics", func(context.Context, object.Key) (controller.Result, error) {
					if calls++; calls%2 == 0 {
						panic("every second")
					}
					return controller.Result{}, nil
				}, controller.Options{}),
				reconciling("fast", func(_ context.Context, key object.Key) (controller.Result, error) {
					done[key] = true
					return controller.Result{}, nil
				}, controller.Options{}),
			}
		})
		answers(t, m.Manager, "/healthz", 200)
		r.create("blue", "green", "red")
		pass(time.Second)
		answers(t, m.Manager, "/healthz", 500, "[-]stuck: key shop/blue has been worked on for 1s; the limit is 900ms")
		answers(t, m.Manager, "/healthz/fast", 200)
		answers(t, m.Manager, "/healthz/panics", 200)
		answers(t, m.Manager, "/metrics", 200, `workqueue_longest_running_processor_seconds{name="stuck"} 1`,
			`workqueue_longest_running_processor_seconds{name="fast"} 0`)
		answers(t, m.Manager, "/debug/informers?format=html", 200, `<th scope="row">stuck</th>`, `<a href="?key=shop%2fblue">shop/blue</a> for 1 second, attempt 1`)
		answers(t, m.Manager, "/debug/informers?key=shop/blue", 200, "a worker has had it for 1 second")
		answers(t, m.Manager, "/debug/controllers/stuck", 200, `"key": "shop/blue"`)
		same(t, "the fast one has done", len(done), 3)
		close(release)
		synctest.Wait()
		answers(t, m.Manager, "/healthz", 200)
	})
}

// TestNoProgressIsRed: keys are ready, and none is done. To be idle is fine.
func TestNoProgressIsRed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			d := blocking("maps", release)
			d.KeyLimit, d.IdleLimit = -1, time.Minute
			o.Controllers = []manager.Descriptor{d}
		})
		watch := func(d time.Duration) (code int) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				pass(10 * time.Second)
				code, _ = get(m.Manager, "/healthz")
			}
			return code
		}
		same(t, "idle for an hour", watch(time.Hour), 200)
		r.create("blue")
		same(t, "a key that takes an hour, without a limit", watch(time.Hour), 200)
		r.create("green")
		same(t, "the other key has waited for 50 s", watch(50*time.Second), 200)
		same(t, "for 70 s", watch(20*time.Second), 500)
		answers(t, m.Manager, "/healthz", 500, "no reconcile has ended for 2h1m0s, while key shop/green is ready for 1m10s")
		release <- struct{}{}
		synctest.Wait()
		answers(t, m.Manager, "/healthz", 200)
		close(release)
	})
}

// TestABacklogIsHealthyWhileKeysAreDone: some have waited for longer than the limit.
func TestABacklogIsHealthyWhileKeysAreDone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("a", "b", "c", "d", "e", "f", "g", "h")
		m := r.run(func(o *manager.Options) {
			d := reconciling("maps", func(context.Context, object.Key) (controller.Result, error) {
				time.Sleep(30 * time.Second)
				return controller.Result{}, nil
			}, controller.Options{})
			d.IdleLimit = time.Minute
			o.Controllers = []manager.Descriptor{d}
		})
		for range 30 {
			pass(10 * time.Second)
			answers(t, m.Manager, "/healthz", 200)
		}
	})
}

func TestReadyz(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.new(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{reconciling("maps", nothing, controller.Options{})}
		})
		answers(t, m, "/readyz", 503, "not ready: the controllers are not made")
		end := r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) { a.Status = sourcetest.Status(http.StatusForbidden) }})
		run := r.start(m)
		answers(t, m, "/readyz", 503, "not ready: 1 of 1 informers have not synced: configmaps/v1 is waiting to try again (forbidden")
		end()
		pass(time.Minute)
		answers(t, m, "/readyz", 200, "ok")
		_ = run.End()
	})
}

func TestAControllerThatHasNotBegunIsNotReady(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{{Name: "maps", New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
				return controller.New("maps", nothing, controller.Options{}, controller.For(mapsOf(c), func(_, _ *configMap) bool {
					<-release
					return true
				}))
			}}}
		})
		answers(t, m.Manager, "/readyz", 503, "not ready: controllers that have not begun to reconcile: maps")
		close(release)
		synctest.Wait()
		answers(t, m.Manager, "/readyz", 200)
	})
}

// TestWhoMaySeeWhat: everyone may probe, and only this machine may see the rest, unless Authorize
// says so.
func TestWhoMaySeeWhat(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		local := r.new(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{r.noting("a")}
			o.MetricsHandler = http.NotFoundHandler()
		})
		open := r.new(func(o *manager.Options) { o.Authorize = func(*http.Request) error { return nil } })
		for path, private := range map[string]bool{
			"/healthz": false, "/readyz": false, "/metrics": false,
			"/configz": true, "/debug/informers": true, "/debug/controllers": true, "/debug/controllers/a": true,
			"/debug/pprof/": true, "/debug/pprof/cmdline": true, "/debug/pprof/heap": true,
		} {
			same(t, path, remote(local, path) == http.StatusForbidden, private)
			same(t, path+" with Authorize", remote(open, path) == http.StatusForbidden, false)
			if code, body := get(local, path); private && code != http.StatusOK {
				t.Errorf("%s from this machine: %d %s", path, code, body)
			}
		}
		answers(t, local, "/debug/controllers/z", 404, "no controller has this name; there are a")
		answers(t, local, "/healthz/z", 404, "no controller has this name; there are a")
	})
}

// TestHealthShowsStrangersNamesOnly: neither the texts of errors, which may have a password, nor
// keys.
func TestHealthShowsStrangersNamesOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			stuck := blocking("stuck", release)
			stuck.KeyLimit = time.Second
			failing := made("failing", func(context.Context) error { return errors.New("dial https://me:secret@db.test") })
			o.Controllers = []manager.Descriptor{stuck, failing, r.noting("fine")}
		})
		r.create("blue")
		pass(time.Minute)
		for path, want := range map[string]string{
			"/healthz":         "[-]stuck\n[-]failing\nhealthz check failed\n",
			"/healthz?verbose": "[+]fine ok\n[-]stuck\n[-]failing\nhealthz check failed\n",
			"/healthz/failing": "[-]failing\nhealthz check failed\n",
			"/healthz/stuck":   "[-]stuck\nhealthz check failed\n",
		} {
			w := askRemotely(m.Manager, path)
			same(t, path, w.Code, http.StatusInternalServerError)
			same(t, path, w.Body.String(), want)
		}
		answers(t, m.Manager, "/healthz", 500, "me:secret@db.test", "key shop/blue has been worked on for 1m0s")
		close(release)
	})
}

// TestAControllerMayAnswer for what is below its name.
func TestAControllerMayAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{{Name: "graph", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
				return answering{}, nil
			}}}
		})
		answers(t, m.Manager, "/debug/controllers/graph", 200, "asked for .")
		answers(t, m.Manager, "/debug/controllers/graph/nodes", 200, "asked for /nodes.")
	})
}

type answering struct{}

func (answering) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (answering) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, _ = io.WriteString(w, "asked for "+strings.TrimSpace(req.URL.Path)+".")
}
