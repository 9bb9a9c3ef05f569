// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestRing has two members of a ring read Pods through a relay, in front of an API server that
// ignores shard selectors. The second joins later, and takes over half of the buckets.
func TestRing(t *testing.T) {
	const namespaces = 560 // half of them are more than 200, and less than 400
	s := newAPIServer(t, "ann watch pods in", "ann list pods in", "ann watch namespaces in", "ann list namespaces in")
	sourcetest.Serve[*coordinationv1.Lease](s.api, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	all := sourcetest.Serve[*corev1.Namespace](s.api, corev1.SchemeGroupVersion.WithResource("namespaces"), "Namespace")
	for n := range namespaces {
		name := fmt.Sprintf("team-%03d", n)
		all.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		s.pods.Create(pod(name, "web"))
	}
	r := s.start(t, configOf(t, `
	listen: {address: 127.0.0.1:0}
	access: {mode: SelfSubjectAccessReview}
	resources: [{version: v1, resource: pods}, {version: v1, resource: namespaces}]
	shutdown: {delay: 0s, period: 0s}`))
	r.await(t)
	for _, by := range []shard.By{shard.ByNamespace, shard.ByUID} {
		t.Run(by.String(), func(t *testing.T) {
			first := s.join(t, r, by)
			awaitParts(t, namespaces, informer.RingStatus{Mode: "client", Buckets: 64, Wanted: 64, Loaded: 64}, first)
			second := s.join(t, r, by)
			awaitParts(t, namespaces, informer.RingStatus{Mode: "server", Buckets: 64, Wanted: 32, Loaded: 32}, first, second)
		})
	}
}

// awaitParts waits until informers have parts of a ring, and all objects together.
func awaitParts(t *testing.T, objects int, part informer.RingStatus, informers ...*informer.SharedIndexInformer[*corev1.Pod]) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		sum, wrong := 0, error(nil)
		for _, i := range informers {
			status := i.Status()
			if sum += status.Objects; *status.Ring != part {
				wrong = fmt.Errorf("%v; want the part %+v", status, part)
			}
		}
		if sum != objects {
			wrong = fmt.Errorf("%d objects, want %d", sum, objects)
		}
		if wrong == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(wrong)
		}
	}
}

// join starts a member of a ring, with an informer that reads through the relay. It ends with the
// test.
func (s *apiServer) join(t *testing.T, r *runningRelay, by shard.By) *informer.SharedIndexInformer[*corev1.Pod] {
	t.Helper()
	config := func(url string) *rest.Config {
		return &rest.Config{Host: url, BearerToken: "ann", Transport: client(t).Transport, QPS: -1}
	}
	ring, err := shard.New(config(s.URL), shard.Options{
		Namespace: "team-000", Name: strings.ToLower(by.String()), By: by, RetryPeriod: 200 * time.Millisecond, JoinDelay: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	reading, err := source.NewClient(config(r.url))
	if err != nil {
		t.Fatal(err)
	}
	f := factories.New(reading, informer.WithRing(ring), informer.WithLogger(logr.Discard()))
	pods := factories.For[*corev1.Pod](f, corev1.SchemeGroupVersion.WithResource("pods"))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ring.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, f.Shutdown(context.WithoutCancel(ctx))); !errors.Is(err, context.Canceled) {
			t.Errorf("a member ends with %v", err)
		}
	})
	return pods
}
