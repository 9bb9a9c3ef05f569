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

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestHealthNamesTheStuckController: one controller panics on every second key, one blocks, one is
// fast. After a second, health, page and metrics name the blocking one, health and page its key,
// and the fast one has reconciled all keys.
func TestHealthNamesTheStuckController(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.withMetrics()
		release, done := make(chan struct{}), map[object.Key]bool{}
		calls := 0
		m := r.run(func(o *manager.Options) {
			stuck := r.reconciling("stuck", func(_ context.Context, key object.Key) (controller.Result, error) {
				if key.Name == "blue" {
					<-release
				}
				return controller.Result{}, nil
			}, controller.Options{})
			stuck.KeyLimit = 900 * time.Millisecond
			o.Controllers = []manager.Descriptor{stuck,
				r.reconciling("panics", func(context.Context, object.Key) (controller.Result, error) {
					if calls++; calls%2 == 0 {
						panic("every second")
					}
					return controller.Result{}, nil
				}, controller.Options{}),
				r.reconciling("fast", func(_ context.Context, key object.Key) (controller.Result, error) {
					done[key] = true
					return controller.Result{}, nil
				}, controller.Options{}),
			}
		})
		checkGet(t, m.Manager, "/healthz", 200)
		r.create("blue", "green", "red")
		pass(time.Second)
		checkGet(t, m.Manager, "/healthz", 500, "[-]stuck: key shop/blue has been running for 1s; the limit is 900ms")
		checkGet(t, m.Manager, "/healthz/fast", 200)
		checkGet(t, m.Manager, "/healthz/panics", 200)
		checkGet(t, m.Manager, "/metrics", 200, `workqueue_longest_running_processor_seconds{controller="stuck",name="stuck"} 1`,
			`workqueue_longest_running_processor_seconds{controller="fast",name="fast"} 0`)
		checkGet(t, m.Manager, "/debug/informers?format=html", 200, `<th scope="row"><a href="controllers/stuck">stuck</a></th>`, `<a href="?key=shop%2Fblue">shop/blue</a> for 1 second, attempt 1`)
		checkGet(t, m.Manager, "/debug/informers?key=shop/blue", 200, "with a worker for 1 second")
		checkGet(t, m.Manager, "/debug/controllers/stuck", 200, `"key": "shop/blue"`)
		same(t, "keys of the fast one", len(done), 3)
		close(release)
		synctest.Wait()
		checkGet(t, m.Manager, "/healthz", 200)
	})
}

// TestNoProgressIsUnhealthy: keys are ready, and no reconcile ends. An idle controller is healthy.
func TestNoProgressIsUnhealthy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			d := r.blocking("maps", release)
			d.KeyLimit, d.IdleLimit = -1, time.Minute
			o.Controllers = []manager.Descriptor{d}
		})
		codeAfter := func(d time.Duration) (code int) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				pass(10 * time.Second)
				code, _ = get(m.Manager, "/healthz")
			}
			return code
		}
		same(t, "idle for an hour", codeAfter(time.Hour), 200)
		r.create("blue")
		same(t, "a key that takes an hour, without a limit", codeAfter(time.Hour), 200)
		r.create("green")
		same(t, "the other key has waited for 50 s", codeAfter(50*time.Second), 200)
		same(t, "for 70 s", codeAfter(20*time.Second), 500)
		checkGet(t, m.Manager, "/healthz", 500, "no reconcile has ended for 2h1m0s, and key shop/green has been ready for 1m10s")
		release <- struct{}{}
		synctest.Wait()
		checkGet(t, m.Manager, "/healthz", 200)
		close(release)
	})
}

// TestBacklogWithProgressIsHealthy: even if keys have waited for longer than the limit.
func TestBacklogWithProgressIsHealthy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("a", "b", "c", "d", "e", "f", "g", "h")
		m := r.run(func(o *manager.Options) {
			d := r.reconciling("maps", func(context.Context, object.Key) (controller.Result, error) {
				time.Sleep(30 * time.Second)
				return controller.Result{}, nil
			}, controller.Options{})
			d.IdleLimit = time.Minute
			o.Controllers = []manager.Descriptor{d}
		})
		for range 30 {
			pass(10 * time.Second)
			checkGet(t, m.Manager, "/healthz", 200)
		}
	})
}

func TestReadyz(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.new(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{r.reconciling("maps", nothing, controller.Options{})}
		})
		checkGet(t, m, "/readyz", 503, "not ready: the controllers are not built")
		end := r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) { a.Status = sourcetest.Status(http.StatusForbidden) }})
		run := r.start(m)
		checkGet(t, m, "/readyz", 503, "not ready: 1 of 1 informers have not synced: configmaps/v1 is waiting to try again (forbidden")
		end()
		pass(time.Minute)
		checkGet(t, m, "/readyz", 200, "ok")
		_ = run.End()
	})
}

func TestUnsyncedControllerIsNotReady(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{{Name: "maps", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
				return controller.New("maps", nothing, controller.Options{}, controller.For(r.informer(), func(_, _ *configMap) bool {
					<-release
					return true
				}))
			}}}
		})
		checkGet(t, m.Manager, "/readyz", 503, "not ready: controllers that have not begun to reconcile: maps")
		close(release)
		synctest.Wait()
		checkGet(t, m.Manager, "/readyz", 200)
	})
}

// TestAuthorization: probes are open to all, other paths to this machine only, unless Authorize
// says otherwise.
func TestAuthorization(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		local := r.new(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{r.recording("a")}
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
				t.Errorf("GET %s from this machine: %d %s", path, code, body)
			}
		}
		checkGet(t, local, "/debug/controllers/z", 404, "no controller has this name; there are a")
		checkGet(t, local, "/healthz/z", 404, "no check has this name; there are a\n")
	})
}

// TestHealthShowsOnlyNamesToUnauthorized: neither error texts, which may have passwords, nor keys.
func TestHealthShowsOnlyNamesToUnauthorized(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			stuck := r.blocking("stuck", release)
			stuck.KeyLimit = time.Second
			failing := controllerOf("failing", func(context.Context) error { return errors.New("dial https://me:secret@db.test") })
			o.Controllers = []manager.Descriptor{stuck, failing, r.recording("fine")}
		})
		r.create("blue")
		pass(time.Minute)
		for path, want := range map[string]string{
			"/healthz":         "[-]stuck\n[-]failing\nhealthz check failed\n",
			"/healthz?verbose": "[+]fine ok\n[-]stuck\n[-]failing\nhealthz check failed\n",
			"/healthz/failing": "[-]failing\nhealthz check failed\n",
			"/healthz/stuck":   "[-]stuck\nhealthz check failed\n",
		} {
			w := getRemotely(m.Manager, path)
			same(t, path, w.Code, http.StatusInternalServerError)
			same(t, path, w.Body.String(), want)
		}
		checkGet(t, m.Manager, "/healthz", 500, "me:secret@db.test", "key shop/blue has been running for 1m0s")
		close(release)
	})
}

// TestControllerServesItsPaths: a controller that is an http.Handler serves the paths below its
// name.
func TestControllerServesItsPaths(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{{Name: "graph", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
				return answering{}, nil
			}}}
		})
		checkGet(t, m.Manager, "/debug/controllers/graph", 200, "asked for .")
		checkGet(t, m.Manager, "/debug/controllers/graph/nodes", 200, "asked for /nodes.")
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

// TestPageShowsErrorsToAuthorizedOnly: errors of reconciles may have passwords.
func TestPageShowsErrorsToAuthorizedOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			failing := r.reconciling("maps", func(context.Context, object.Key) (controller.Result, error) {
				return controller.Result{}, errors.New("dial https://me:secret@db.test")
			}, controller.Options{})
			o.Controllers = []manager.Descriptor{failing}
		})
		r.create("blue")
		pass(time.Minute)
		paths := []string{"/debug/informers", "/debug/informers?format=html", "/debug/informers?key=shop/blue", "/debug/controllers/maps"}
		for _, path := range paths {
			checkGet(t, m.Manager, path, 200, "me:secret@db.test")
			w := getRemotely(m.Manager, path)
			if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("GET %s from another machine: %d %s", path, w.Code, w.Body)
			}
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if body := getRemotely(m.Manager, path).Body.String(); strings.Contains(body, "secret") {
				t.Errorf("GET %s: %s", path, body)
			}
		}
	})
}
