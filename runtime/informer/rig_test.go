// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	podResource  = informertest.PodResource
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
)

type (
	shop                     = informertest.Shop
	journal[T object.Object] = informertest.Journal[T]
)

var (
	newShop  = informertest.NewShop
	pod      = informertest.Pod
	labelled = informertest.Labelled
	run      = informertest.Run
	shutdown = informertest.Shutdown
	inBubble = informertest.InBubble
	noError  = informertest.NoError
	want     = informertest.Error
	same     = informertest.Same
	pass     = informertest.Pass
)

type podSnapshot = *store.Snapshot[*corev1.Pod]

var (
	discard = logr.Discard()

	// noContext is a nil context, an error for every method.
	noContext context.Context
)

func logTo(b *strings.Builder) logr.Logger {
	return funcr.New(func(prefix, args string) { b.WriteString(prefix + args + "\n") }, funcr.Options{})
}

func numbered(n int) string { return fmt.Sprintf("pod-%03d", n) }

func identity(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }

func podsOf(f factories.SharedInformerFactory, opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	return factories.For[*corev1.Pod](f, podResource, opts...)
}

func newPods(t *testing.T, src source.Source[*corev1.Pod], opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	t.Helper()
	pods, err := informer.New(src, opts...)
	noError(t, err)
	return pods
}

// start runs an informer until stop is called, or until the test ends.
func start[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx) }()
	synctest.Wait()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Run returned %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// follow runs an informer of the server's pods, with a journal, until the test ends.
func follow(t *testing.T, server *shop, opts ...informer.Option) (*informer.SharedIndexInformer[*corev1.Pod], *journal[*corev1.Pod]) {
	t.Helper()
	pods, j := newPods(t, server.Source(t), opts...), &journal[*corev1.Pod]{}
	informertest.Add(t, pods, j)
	start(t, pods)
	return pods, j
}

func acquire(ctx context.Context, t *testing.T, i factories.Informer) *informer.Lease {
	t.Helper()
	lease, err := i.Acquire(ctx)
	noError(t, err)
	return lease
}

// get returns a pod of the store, or fails the test.
func get(t *testing.T, pods *informer.SharedIndexInformer[*corev1.Pod], name string) *corev1.Pod {
	t.Helper()
	pod, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: name})
	if !ok {
		t.Fatalf("the store lacks pod %s", name)
	}
	return pod
}

// wantTransformError asserts that the informer has not synced because of its transform.
func wantTransformError(t *testing.T, pods *informer.SharedIndexInformer[*corev1.Pod]) {
	t.Helper()
	s := pods.Status()
	var err *source.TransformError
	if s.Synced || s.Objects != 0 || s.Reflector.Reason != reason.Transform || !errors.As(s.Reflector.LastError, &err) || err.Key != (object.Key{Namespace: "shop", Name: "pod-1"}) {
		t.Errorf("Status() = %v, want unsynced because of the transform of shop/pod-1", s)
	}
}
