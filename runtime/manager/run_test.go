// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestRunOrder: all controllers are built before the informers start, and none waits for another.
func TestRunOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		m := r.new(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{
				r.recording("other"),
				{Name: "tokens", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
					r.note("make tokens")
					pods := r.informer()
					return controller.New("tokens", func(ctx context.Context, key object.Key) (controller.Result, error) {
						r.note("reconcile %s", key)
						<-ctx.Done()
						r.note("end tokens")
						return controller.Result{}, nil
					}, controller.Options{}, controller.For(pods))
				}},
			}
		})
		end := r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			if a.Request.Resource.Resource == mapsResource.Resource {
				a.Status = sourcetest.Status(http.StatusForbidden)
			}
		}})
		run := r.start(m)
		same(t, "while its informer can't sync", r.take(), []string{"make other", "make tokens", "run other"})
		end()
		pass(time.Minute)
		same(t, "the start", r.take(), []string{"reconcile shop/blue"})
		same(t, "Run", run.End(), errStop)
		same(t, "the end", sorted(r.take()), []string{"end other", "end tokens"})
		for _, i := range r.factory.Informers() {
			if s := i.Status(); s.Running {
				t.Errorf("%s runs", s.Name)
			}
		}
		wantError(t, m.Run(t.Context()), "manager: Run: Run was called before; make another manager")
	})
}

// TestRunReturnsIncomparableCause: the cause's type can't be compared by ==.
func TestRunReturnsIncomparableCause(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.new(func(o *manager.Options) { o.Controllers = []manager.Descriptor{r.recording("other")} })
		cause := utilerrors.NewAggregate([]error{errStop, errors.New("and so does the machine")})
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 1)
		go func() { result <- m.Run(ctx) }()
		pass(time.Second)
		cancel(cause)
		same(t, "Run", <-result, cause)
		same(t, "events", r.take(), []string{"make other", "run other", "end other"})
	})
}

// TestCancelledBeforeTheSync: Run returns at once while informers sync (C-25).
func TestCancelledBeforeTheSync(t *testing.T) {
	for name, fault := range map[string]func(*sourcetest.Answer){
		"forbidden": func(a *sourcetest.Answer) { a.Status = sourcetest.Status(http.StatusForbidden) },
		"hanging":   func(a *sourcetest.Answer) { a.Err = sourcetest.ErrHang },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: fault})
				m := r.runs(r.reconciling("maps", nothing, controller.Options{}))
				pass(time.Minute)
				start := time.Now()
				same(t, "Run", m.End(), errStop)
				same(t, "the end takes", time.Since(start), time.Duration(0))
			})
		})
	}
}

// nothing is a reconcile that does nothing.
func nothing(context.Context, object.Key) (controller.Result, error) { return controller.Result{}, nil }

// TestRunErrorNamesHangingControllers: after the deadline (C-23).
func TestRunErrorNamesHangingControllers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		release := make(chan struct{})
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{
				r.recording("tokens"), r.recording("fine"),
				r.blocking("stuck", release),
				controllerOf("deaf", func(context.Context) error { <-release; return nil }),
			}
			o.ShutdownTimeout = 10 * time.Second
		})
		pass(50 * time.Second)
		start := time.Now()
		wantError(t, m.End(), "manager: Run: controller stuck has not returned; it is working on shop/blue for 1m0s: ShutdownTimeout of 10s has passed\n"+
			"controller deaf has not returned: ShutdownTimeout of 10s has passed")
		same(t, "the end takes", time.Since(start), 10*time.Second)
		same(t, "the end of another one", slices.Contains(r.take(), "end tokens"), true)
		close(release)
		synctest.Wait()
	})
}

// TestFailedControllerLeavesOthersRunning: it is unhealthy and unready, and can be started again.
func TestFailedControllerLeavesOthersRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		runs := 0
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{r.recording("fine"), {Name: "disk", New: func(context.Context, *manager.Context) (manager.Runnable, error) {
				r.note("make disk")
				return manager.RunnableFunc(func(ctx context.Context) error {
					if runs++; runs == 1 {
						return errors.New("no such disk")
					}
					<-ctx.Done()
					return nil
				}), nil
			}}, controllerOf("once", func(context.Context) error { return nil })}
		})
		same(t, "states", states(t, m.Manager), "disk:failed fine:running once:done")
		checkGet(t, m.Manager, "/healthz", 500, "[-]disk: Run has failed: no such disk\nhealthz check failed")
		checkGet(t, m.Manager, "/healthz/disk", 500, "no such disk")
		checkGet(t, m.Manager, "/healthz/fine", 200, "ok\n")
		checkGet(t, m.Manager, "/readyz", 503, "not ready: controllers that have failed: disk")
		r.take()
		if err := m.Start("disk"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		same(t, "states", states(t, m.Manager), "disk:running fine:running once:done")
		checkGet(t, m.Manager, "/healthz?verbose", 200, "[+]fine ok\n[+]disk ok\n[+]once ok\nok\n")
		checkGet(t, m.Manager, "/readyz", 200)
		same(t, "made again", r.take(), []string{})
		same(t, "Run", m.End(), errStop)
	})
}

func TestStopAndStart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			o.Controllers = []manager.Descriptor{
				r.recording("a", func(d *manager.Descriptor) { d.Aliases = []string{"old-a"} }), r.recording("b"),
				r.reconciling("later", func(_ context.Context, key object.Key) (controller.Result, error) {
					r.note("reconcile %s", key)
					return controller.Result{}, nil
				}, controller.Options{}),
			}
			o.Select = []string{"a", "b"}
		})
		r.take()
		ctx := t.Context()
		same(t, "Stop", m.Stop(ctx, "old-a"), nil)
		same(t, "events", r.take(), []string{"end a"})
		same(t, "Stop again", m.Stop(ctx, "a"), nil)
		same(t, "states", states(t, m.Manager), "a:off b:running later:off")
		checkGet(t, m.Manager, "/healthz/a", 200)
		same(t, "Start", errors.Join(m.Start("a"), m.Start("a"), m.Start("b")), nil)
		same(t, "events", r.take(), []string{"run a"})

		r.create("blue")
		same(t, "Start of one that was left out", m.Start("later"), nil)
		pass(time.Second)
		same(t, "events", r.take(), []string{"reconcile shop/blue"})
		same(t, "states", states(t, m.Manager), "a:running b:running later:running")
		wantError(t, m.Start("z"), "manager: Start z: no controller has this name; there are a, b, later")
		wantError(t, m.Stop(ctx, "z"), "manager: Stop z: no controller has this name; there are a, b, later")
	})
}

func TestStopNamesTheKey(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		release := make(chan struct{})
		m := r.runs(r.blocking("stuck", release))
		pass(50 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		wantError(t, m.Stop(ctx, "stuck"), "manager: Stop stuck: it has not returned; it is working on shop/blue for 1m0s: context deadline exceeded")
		same(t, "states", states(t, m.Manager), "stuck:stopping")
		wantError(t, m.Start("stuck"), "manager: Start stuck: it was stopped, and has not returned yet")
		close(release)
		synctest.Wait()
		same(t, "Start", m.Start("stuck"), nil)
	})
}

// runAt runs a manager that serves at a free address. It returns when a controller has started.
func runAt(ctx context.Context, t *testing.T, r *rig, address string) (*manager.Manager, <-chan error) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		ready, ended := make(chan struct{}), make(chan error, 1)
		m := r.new(func(o *manager.Options) {
			o.Address = address
			o.Controllers = []manager.Descriptor{controllerOf("maps", func(ctx context.Context) error {
				close(ready)
				<-ctx.Done()
				return nil
			})}
		})
		go func() { ended <- m.Run(ctx) }()
		select {
		case <-ready:
			return m, ended
		case err := <-ended: // another process may have got the port for a moment
			if !errors.Is(err, syscall.EADDRINUSE) || time.Since(start) > 2*time.Minute {
				t.Fatal(err)
			}
		}
	}
}

func TestAddressIsServedDuringRun(t *testing.T) {
	r := newRig(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	taken := r.new(func(o *manager.Options) { o.Address = address })
	if err := taken.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "manager: Run: serve at Options.Address: listen tcp "+address) {
		t.Errorf("Run() at a used address = %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	m, ended := runAt(ctx, t, r, address)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	same(t, "status", resp.StatusCode, http.StatusOK)
	cancel(errStop)
	same(t, "Run", <-ended, errStop)
	if _, err := client.Get("http://" + address + "/healthz"); err == nil {
		t.Error("the address is served after Run")
	}
	wantError(t, m.Start("maps"), "manager: Start maps: informer factory: Start: the factory was shut down")
}
