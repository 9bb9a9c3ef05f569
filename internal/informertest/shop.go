// SPDX-License-Identifier: Apache-2.0

// Package informertest has helpers shared by tests of informers and factories.
package informertest

import (
	"errors"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// PodResource is a Shop's resource.
var PodResource = corev1.SchemeGroupVersion.WithResource("pods")

// Pod returns a pod on a node; "" means none.
func Pod(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

// Labelled returns a pod with labels.
func Labelled(namespace, name string, labels map[string]string) *corev1.Pod {
	pod := Pod(namespace, name, "")
	pod.Labels = labels
	return pod
}

// Shop is an API server in memory, with pods.
type Shop struct {
	*sourcetest.Server
	Pods *sourcetest.Collection[*corev1.Pod]
}

// NewShop returns a Shop with these pods.
func NewShop(pods ...*corev1.Pod) *Shop {
	server := sourcetest.New()
	s := &Shop{server, sourcetest.Serve[*corev1.Pod](server, PodResource, "Pod", "spec.nodeName")}
	for _, pod := range pods {
		s.Pods.Create(pod)
	}
	return s
}

type fataler interface{ Fatal(...any) }

// Client returns a client of the server.
func (s *Shop) Client(t fataler) *source.Client {
	client, err := source.NewClient(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Source returns a source of the pods.
func (s *Shop) Source(t fataler) source.Source[*corev1.Pod] {
	src, err := source.New[*corev1.Pod](s.Client(t), PodResource, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// Factory returns a factory over the server.
func (s *Shop) Factory(t fataler, opts ...informer.Option) *factories.Factory {
	return factories.New(s.Client(t), opts...)
}

// Move moves a pod to a node.
func (s *Shop) Move(name, node string) *corev1.Pod { return s.Pods.Update(Pod("shop", name, node)) }

// ErrOutage is the error of requests during an outage.
var ErrOutage = errors.New("the server is away")

// Outage cuts the connection until end is called.
func (s *Shop) Outage() (end func()) {
	end = s.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(ErrOutage)})
	s.EndWatches()
	return end
}

// Relist makes every informer list again: it compacts the history while no watch is open.
func (s *Shop) Relist(change func()) {
	stop := s.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: sourcetest.Always, Do: sourcetest.Refuse(503)})
	s.EndWatches()
	synctest.Wait()
	change()
	s.Compact()
	stop()
}
