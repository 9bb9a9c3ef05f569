// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func TestIndexesAreAddedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "blue", "node-1"), pod("shop", "green", "node-2")).Source(t))
		stop := start(t, pods)
		noError(t, pods.AddIndexers(PodByNode, PodByNode))
		if n := PodByNode.Len(pods.Store().Snapshot(), "node-1"); n != 1 {
			t.Errorf("%d pods on node-1, want 1", n)
		}
		other := store.NewIndex("ByNode", func(_ *corev1.Pod, keys []int) []int { return keys })
		want(t, pods.AddIndexers(other), `informer *v1.Pod: AddIndexers: two indexes have the name "ByNode"`)
		want(t, pods.AddIndexers(nil), `informer *v1.Pod: AddIndexers: index 1 is nil`)
		stop()
	})
}

func onAdd(*corev1.Pod, bool)                {}
func onDelete(informer.Deleted[*corev1.Pod]) {}

func TestHandlerNames(t *testing.T) {
	pods := newPods(t, newShop().Source(t))
	informertest.Add(t, pods, &journal[*corev1.Pod]{})
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: onAdd})
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{})
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{DeleteFunc: onDelete})
	informertest.Add(t, pods, informer.FilteringHandler[*corev1.Pod]{Handler: &journal[*corev1.Pod]{}})
	informertest.Add(t, pods, &journal[*corev1.Pod]{}, informer.WithHandlerName("mine"))
	var names []string
	for _, h := range pods.Status().Handlers {
		names = append(names, h.Name)
	}
	const pkg = "github.com/informer-gen/informer-gen/runtime/informer"
	if diff := cmp.Diff([]string{"*informertest.Journal[*v1.Pod]", pkg + "_test.onAdd", "informer.HandlerFuncs[*v1.Pod]", pkg + "_test.onDelete", "*informertest.Journal[*v1.Pod]", "mine"}, names, cmp.Transformer("generic", func(name string) string {
		return strings.ReplaceAll(name, "*k8s.io/api/core/v1.Pod", "*v1.Pod")
	})); diff != "" {
		t.Error(diff)
	}
}

// TestPanicEndsTheProcess runs itself in a child process.
func TestPanicEndsTheProcess(t *testing.T) {
	const child = "TEST_PANIC_IN_HANDLER"
	if os.Getenv(child) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestPanicEndsTheProcess$")
		command.Env = append(os.Environ(), child+"=yes")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: on purpose") {
			t.Errorf("the child process: %v, want a panic: %s", err, out)
		}
		return
	}
	pods := newPods(t, newShop(pod("shop", "blue", "")).Source(t), informer.WithPanicOnHandlerCrash(true))
	informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { panic("on purpose") }})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Log(pods.Run(ctx))
}
