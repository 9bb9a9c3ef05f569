// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	podResource  = informertest.PodResource
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
)

// PodByNode is the generated index for the marker
//
//	+informer:index:name=ByNode,field=.spec.nodeName
var PodByNode = store.NewIndex("ByNode", func(pod *corev1.Pod, keys []string) []string {
	return append(keys, pod.Spec.NodeName)
})

type journal[T object.Object] = informertest.Journal[T]

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

func podsOf(f factories.SharedInformerFactory, opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	return factories.For[*corev1.Pod](f, podResource, opts...)
}

func keep[T object.Object](obj T) (T, error) { return obj, nil }
