// SPDX-License-Identifier: Apache-2.0

package controllertest_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

type reconcileFunc = func(ctx context.Context, m *corev1.ConfigMap) (controller.Result, error)

// start serves one ConfigMap and starts a controller with this reconcile function.
func start(t *testing.T, env *controllertest.Env, reconcile reconcileFunc) (*controller.Controller, *sourcetest.Collection[*corev1.ConfigMap]) {
	t.Helper()
	maps := sourcetest.Serve[*corev1.ConfigMap](env.Server, mapsResource, "ConfigMap")
	maps.Create(configMap("blue"))
	kind := controller.NewKind[*corev1.ConfigMap](factories.New(env.Client), mapsResource, "ConfigMap", true)
	c, err := kind.Reconcile("test", reconcile)
	if err != nil {
		t.Fatal(err)
	}
	env.Start(c)
	return c, maps
}

func TestSettleWaitsForRetries(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		calls := 0
		start(t, env, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
			if calls++; calls < 12 {
				return controller.Result{}, errors.New("not yet")
			}
			return controller.Result{}, nil
		})
		env.Settle()
		if calls != 12 {
			t.Errorf("Settle returned after %d calls, want 12", calls)
		}
	})
}

func TestSettleWaitsForReconciles(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		done := false
		start(t, env, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
			time.Sleep(time.Second)
			done = true
			return controller.Result{}, nil
		})
		env.Settle()
		if !done {
			t.Error("Settle returned before the reconcile ended")
		}
	})
}

func TestSettleWaitsForAwaitedWrites(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		env.Server.Inject(sourcetest.Fault{On: sourcetest.Watch | sourcetest.WatchList, Times: sourcetest.Always, Do: sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
			time.Sleep(300 * time.Millisecond)
			return []sourcetest.Event{e}
		})})
		maps := sourcetest.Serve[*corev1.ConfigMap](env.Server, mapsResource, "ConfigMap")
		maps.Create(configMap("blue"))
		c := newLabeller(t, env.Client)
		env.Start(c)
		env.Settle()
		// One reconcile writes. The other is for the event of the write, which the first has
		// awaited.
		if totals := c.Status().Totals; totals.Succeeded != 2 || totals.Awaited != 1 {
			t.Errorf("%d reconciles and %d writes awaited, want 2 and 1", totals.Succeeded, totals.Awaited)
		}
	})
}

func TestSettleDoesNotWaitForAfter(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		var calls atomic.Int32 // also read before the second call
		start(t, env, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
			calls.Add(1)
			return controller.Result{RequeueAfter: time.Hour}, nil
		})
		began := time.Now()
		env.Settle()
		if calls.Load() != 1 || time.Since(began) > time.Second {
			t.Errorf("Settle returned after %d calls and %s, want 1 call, at once", calls.Load(), time.Since(began))
		}
		time.Sleep(time.Hour)
		env.Settle()
		if calls.Load() != 2 {
			t.Errorf("%d calls after an hour, want 2", calls.Load())
		}
	})
}

func TestControllerRestarts(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		var seen []string
		c, maps := start(t, env, func(_ context.Context, m *corev1.ConfigMap) (controller.Result, error) {
			seen = append(seen, m.Name)
			return controller.Result{}, nil
		})
		env.Settle()
		env.Stop()
		maps.Delete("shop", "blue")
		maps.Create(configMap("red"))
		env.Settle()
		env.Start(c)
		env.Settle()
		if got := strings.Join(seen, " "); got != "blue red" {
			t.Errorf("reconciled %q, want blue, and red after the new start", got)
		}
	})
}

var failureFlag = flag.String("failing", "", "let TestFails fail in this way")

// TestFails fails. TestRunNamesUnsettled runs it in a child process.
func TestFails(t *testing.T) {
	if *failureFlag == "" {
		t.Skip("run by TestRunNamesUnsettled")
	}
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		switch *failureFlag {
		case "error":
			start(t, env, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
				return controller.Result{}, errors.New("no luck")
			})
		case "stuck":
			start(t, env, func(ctx context.Context, _ *corev1.ConfigMap) (controller.Result, error) {
				<-ctx.Done()
				return controller.Result{}, nil
			})
		case "forbidden":
			env.Server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(403)})
			start(t, env, reconcileNothing)
		case "twice":
			c, _ := start(t, env, reconcileNothing)
			env.Start(c)
		}
		env.Settle()
	})
}

func reconcileNothing(context.Context, *corev1.ConfigMap) (controller.Result, error) {
	return controller.Result{}, nil
}

func TestRunNamesUnsettled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for way, want := range map[string]string{
		"error":     "controller test: 1 keys are tried again; the last error was that of shop/blue: no luck",
		"stuck":     "controller test: it has been reconciling shop/blue for 10m0",
		"forbidden": "controller test: it has not synced: informer configmaps/v1",
		"twice":     "controller test has ended: controller test: Run: it is running",
	} {
		out, err := exec.CommandContext(t.Context(), self, "-test.run=^TestFails$", "-failing="+way).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("TestFails -failing=%s: error %v; want %q in\n%s", way, err, want, out)
		}
	}
}
