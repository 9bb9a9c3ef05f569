// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

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
	same     = informertest.Same
	pass     = informertest.Pass
)

func podsOf(f factories.SharedInformerFactory, opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	return factories.For[*corev1.Pod](f, podResource, opts...)
}

func numbered(n int) string { return fmt.Sprintf("pod-%03d", n) }

type podSnapshot = *store.Snapshot[*corev1.Pod]

// wantTransformError wants an informer that has not synced because of its transform.
func wantTransformError(t *testing.T, pods *informer.SharedIndexInformer[*corev1.Pod]) {
	t.Helper()
	s := pods.Status()
	var err *source.TransformError
	if s.Synced || s.Objects != 0 || s.Reflector.Reason != reason.Transform || !errors.As(s.Reflector.LastError, &err) || err.Key != (object.Key{Namespace: "shop", Name: "pod-1"}) {
		t.Errorf("status %v", s)
	}
}
