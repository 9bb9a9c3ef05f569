// SPDX-License-Identifier: Apache-2.0

package controllerruntime_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestReadsWithRing reads the objects of all buckets in the caches of two processes. One of them
// has an object, and the other one says at once that there is none.
func TestReadsWithRing(t *testing.T) {
	for _, by := range []shard.By{shard.ByNamespace, shard.ByKey, shard.ByUID} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, DefaultNamespaces %v", by, named), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testReadsWithRing(t, by, named) })
			})
		}
	}
}

func testReadsWithRing(t *testing.T, by shard.By, named bool) {
	r := newReads(t)
	opts := cache.Options{DefaultNamespaces: r.namespaces}
	if !named {
		opts.DefaultNamespaces = nil
	}
	a, b := r.join(t, "a", by, opts), r.join(t, "b", by, opts)
	time.Sleep(30 * time.Second) // they share the buckets
	for _, pod := range r.pods {
		if inA, inB := a.reads(t, pod), b.reads(t, pod); inA == inB {
			t.Errorf("%s: a has it: %v, b has it: %v", pod.Namespace, inA, inB)
		}
	}
	var all corev1.PodList
	if err := a.cache.List(t.Context(), &all); err != nil || len(all.Items) == len(r.pods) && by != shard.ByUID {
		t.Errorf("a lists %d of %d Pods, error %v", len(all.Items), len(r.pods), err)
	}
}

// TestForbiddenNamespaceWithRing: a missing right in a namespace stops the reads in this namespace
// only.
func TestForbiddenNamespaceWithRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReads(t)
		const forbidden = "team-3"
		r.server.Inject(sourcetest.Fault{
			Resource: podResource, Times: sourcetest.Always, Do: sourcetest.Refuse(403),
			Match: func(r sourcetest.Request) bool { return r.Namespace == forbidden },
		})
		a := r.join(t, "a", shard.ByNamespace, cache.Options{DefaultNamespaces: r.namespaces})
		time.Sleep(10 * time.Second)
		for _, pod := range r.pods {
			if pod.Namespace != forbidden && !a.reads(t, pod) {
				t.Errorf("the Pod in %s is not found", pod.Namespace)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		key := client.ObjectKey{Namespace: forbidden, Name: "blue"}
		if err := a.cache.Get(ctx, key, &corev1.Pod{}); !apierrors.IsTimeout(err) {
			t.Errorf("Get in %s: error %v, want a timeout", forbidden, err)
		}
	})
}

// reads is a server with a Pod in each namespace.
type reads struct {
	server     *sourcetest.Server
	namespaces map[string]cache.Config
	pods       []*corev1.Pod
}

func newReads(t *testing.T) *reads {
	t.Helper()
	r := &reads{server: sourcetest.New(), namespaces: map[string]cache.Config{}}
	sourcetest.Serve[*coordinationv1.Lease](r.server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	pods := sourcetest.Serve[*corev1.Pod](r.server, podResource, "Pod")
	for n := range objects {
		namespace := fmt.Sprintf("team-%d", n)
		r.namespaces[namespace] = cache.Config{}
		r.pods = append(r.pods, pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "blue"}}))
	}
	return r
}

// process is a member of a ring with a cache. Reads make its informers.
type process struct {
	name  string
	cache cache.Cache
}

func (r *reads) join(t *testing.T, name string, by shard.By, opts cache.Options) *process {
	t.Helper()
	member, err := shard.New(r.server.Config(), shard.Options{Namespace: "shop", Name: "pods", Identity: name, By: by, JoinDelay: -1})
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	opts.Scheme, opts.Mapper = scheme.Scheme, mapper
	ring := controllerruntime.NewRing(member)
	c, err := ring.NewCache(rest.CopyConfig(r.server.Config()), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- c.Start(ctx) }()
	go func() { ended <- ring.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	return &process{name, c}
}

// reads reports whether the cache has a Pod, by Get and by List. Neither waits for other buckets.
func (p *process) reads(t *testing.T, pod *corev1.Pod) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var one corev1.Pod
	err := p.cache.Get(ctx, client.ObjectKeyFromObject(pod), &one)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("%s, Get in %s: %v", p.name, pod.Namespace, err)
	}
	var list corev1.PodList
	if err := p.cache.List(ctx, &list, client.InNamespace(pod.Namespace)); err != nil {
		t.Errorf("%s, List in %s: %v", p.name, pod.Namespace, err)
	}
	listed := slices.ContainsFunc(list.Items, func(other corev1.Pod) bool { return other.UID == pod.UID })
	if listed != (err == nil) {
		t.Errorf("%s, %s: Get %v, but List has it: %v", p.name, pod.Namespace, err, listed)
	}
	return listed
}
