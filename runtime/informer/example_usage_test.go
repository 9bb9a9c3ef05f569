// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"slices"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// cluster returns a server in memory with some pods, and a client of it.
func cluster(existing ...*corev1.Pod) (*sourcetest.Server, *sourcetest.Collection[*corev1.Pod], *source.Client) {
	server := newShop(existing...)
	return server.Server, server.Pods, server.Client(fatal{})
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// One informer reads several namespaces, each with a watch of its own.
func ExampleWithNamespace() {
	_, _, client := cluster(pod("shop", "blue", ""), pod("lab", "green", ""), pod("office", "red", ""))
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.For[*corev1.Pod](factory, podResource, informer.WithNamespace("shop", "lab"))
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))

	snapshot := pods.Store().Snapshot()
	fmt.Println(snapshot.Len(), "objects in", slices.Sorted(snapshot.Namespaces()))
	must(factory.Shutdown(ctx))
	// Output: 2 objects in [lab shop]
}

// The informer reads the namespaces that have a label at the moment.
func ExampleWithNamespaceSelector() {
	server, _, client := cluster(pod("shop", "blue", ""), pod("lab", "green", ""))
	namespaces := sourcetest.Serve[*corev1.Namespace](server, corev1.SchemeGroupVersion.WithResource("namespaces"), "Namespace")
	labelled := func(name, env string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": env}}}
	}
	namespaces.Create(labelled("shop", "prod"))
	namespaces.Create(labelled("lab", "test"))

	ctx := context.Background()
	factory := factories.New(client, informer.WithNamespaceSelector(labels.SelectorFromSet(labels.Set{"env": "prod"})))
	pods := factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	fmt.Println(slices.Sorted(pods.Store().Snapshot().Namespaces()))

	namespaces.Update(labelled("lab", "prod"))
	must(pods.Until(ctx, func(s *store.Snapshot[*corev1.Pod]) (bool, error) { return s.Len() == 2, nil }))
	fmt.Println(slices.Sorted(pods.Store().Snapshot().Namespaces()))
	must(factory.Shutdown(ctx))
	// Output:
	// [shop]
	// [lab shop]
}

// A transform makes objects smaller, or different, before they get into the store.
func ExampleWithTransform() {
	_, _, client := cluster(pod("shop", "blue", "node-7"))
	ctx := context.Background()
	factory := factories.New(client, informer.WithoutManagedFields())
	pods := factories.For[*corev1.Pod](factory, podResource, informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
		pod.Status = corev1.PodStatus{}
		pod.Labels = map[string]string{"on": pod.Spec.NodeName}
		return pod, nil
	}))
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	for pod := range pods.Store().Snapshot().All() {
		fmt.Println(pod.Name, pod.Labels)
	}
	must(factory.Shutdown(ctx))
	// Output: blue map[on:node-7]
}

// An error handler is called with every failure of a list or a watch, and can distinguish them.
func ExampleWithErrorHandler() {
	server, _, client := cluster()
	server.Inject(sourcetest.Fault{Times: 2, Do: sourcetest.Refuse(http.StatusUnauthorized)})
	ctx := context.Background()
	failures := make(chan reason.Reason, 10)
	factory := factories.New(client,
		informer.WithLogger(logr.Discard()), // without a handler, failures are logged only
		informer.WithTuning(reflector.Tuning{Backoff: reflector.Backoff{Initial: 1}}),
		informer.WithErrorHandler(func(_ string, err error) { failures <- reason.Of(err) }))
	factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	must(factory.Shutdown(ctx))
	close(failures)
	for reason := range failures {
		fmt.Println(reason)
	}
	// Output:
	// unauthorized
	// unauthorized
}

// An informer can wait for a resource whose CustomResourceDefinition may be installed later, or
// never.
func ExampleWithOptionalResource() {
	_, _, client := cluster(pod("shop", "blue", ""))
	ctx := context.Background()
	factory := factories.New(client, informer.WithLogger(logr.Discard()))
	pods := factories.For[*corev1.Pod](factory, podResource)
	jobs := factories.For[*batchv1.Job](factory, batchv1.SchemeGroupVersion.WithResource("jobs"), informer.WithOptionalResource())
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx)) // does not wait for jobs
	fmt.Println(pods.HasSynced(), jobs.HasSynced(), jobs.Status().Reflector.State)
	must(factory.Shutdown(ctx))
	// Output: true false waiting for the resource to exist
}

// Waiting for sync can end early for a failure that lasts until a person does something about it.
func ExampleFailOn() {
	server, _, client := cluster()
	server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
	ctx := context.Background()
	factory := factories.New(client, informer.WithLogger(logr.Discard()))
	factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))
	err := factory.WaitForCacheSync(ctx, informer.FailOn(reason.Forbidden, reason.NotFound))
	fmt.Println(reason.Of(err))
	must(factory.Shutdown(ctx))
	// Output: forbidden
}

// A filter restricts a handler to a part of the objects: an object that enters the part is added,
// one that leaves it is deleted.
func ExampleFilteringHandler() {
	_, pods, client := cluster(pod("shop", "blue", ""), pod("shop", "green", "node-7"))
	ctx := context.Background()
	factory := factories.New(client)
	cache := factories.For[*corev1.Pod](factory, podResource)
	done := make(chan struct{})
	_, err := cache.AddEventHandler(informer.FilteringHandler[*corev1.Pod]{
		Filter: func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" },
		Handler: informer.HandlerFuncs[*corev1.Pod]{
			AddFunc: func(pod *corev1.Pod, initial bool) { fmt.Println("runs:", pod.Name, initial) },
			DeleteFunc: func(deleted informer.Deleted[*corev1.Pod]) {
				fmt.Println("runs no longer:", deleted.Key)
				close(done)
			},
		},
	})
	must(err)
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	pods.Update(pod("shop", "blue", "node-8"))
	pods.Delete("shop", "blue")
	<-done
	must(factory.Shutdown(ctx))
	// Output:
	// runs: green true
	// runs: blue false
	// runs no longer: shop/blue
}

// A loop over the events takes the place of a handler.
func ExampleSharedIndexInformer_Events() {
	_, pods, client := cluster(pod("shop", "blue", "node-7"))
	ctx := context.Background()
	factory := factories.New(client)
	cache := factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))
loop:
	for event := range cache.Events(ctx) {
		switch event.Type {
		case source.Bookmark:
			fmt.Println("all initial objects seen")
			pods.Delete("shop", "blue")
		case source.Deleted:
			fmt.Println("deleted:", event.Key)
			break loop
		default:
			fmt.Println("exists:", event.Key)
		}
	}
	must(factory.Shutdown(ctx))
	// Output:
	// exists: shop/blue
	// all initial objects seen
	// deleted: shop/blue
}

// Until waits for a state of the store.
func ExampleSharedIndexInformer_Until() {
	_, pods, client := cluster(pod("shop", "blue", ""))
	ctx := context.Background()
	factory := factories.New(client)
	cache := factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))
	go pods.Create(pod("shop", "green", ""))
	must(cache.Until(ctx, func(s *store.Snapshot[*corev1.Pod]) (bool, error) { return s.Len() == 2, nil }))
	fmt.Println(cache.Store().Snapshot().Len())
	must(factory.Shutdown(ctx))
	// Output: 2
}

// A controller that has written an object waits until its cache has it, so that it does not act on
// outdated objects.
func ExampleSharedIndexInformer_AwaitObject() {
	_, pods, client := cluster(pod("shop", "blue", ""))
	ctx := context.Background()
	factory := factories.New(client)
	cache := factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))

	// In a program, this is the result of the client's Update.
	written := pods.Update(pod("shop", "blue", "node-7"))
	must(cache.AwaitObject(ctx, written))
	for pod := range cache.Store().Snapshot().All() {
		fmt.Println(pod.Spec.NodeName)
	}
	deleted := pods.Delete("shop", "blue")
	must(cache.AwaitDeleted(ctx, deleted))
	fmt.Println(cache.Store().Snapshot().Len())
	must(factory.Shutdown(ctx))
	// Output:
	// node-7
	// 0
}

// Parts of a program that need an informer for a while take a lease each. The informer runs as long
// as there is one.
func ExampleSharedIndexInformer_Acquire() {
	_, _, client := cluster(pod("shop", "blue", ""))
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.For[*corev1.Pod](factory, podResource)

	one, err := pods.Acquire(ctx)
	must(err)
	other, err := pods.Acquire(ctx)
	must(err)
	must(pods.WaitForCacheSync(ctx))
	must(one.Release(ctx))
	fmt.Println("running:", pods.Status().Running)
	must(other.Release(ctx)) // waits until every goroutine has ended
	fmt.Println("running:", pods.Status().Running, "objects:", pods.Store().Snapshot().Len())
	// Output:
	// running: true
	// running: false objects: 1
}

// The detector finds code that changes objects of the cache. It is for tests.
func ExampleWithMutationDetector() {
	_, _, client := cluster(pod("shop", "blue", "node-7"))
	ctx := context.Background()
	factory := factories.New(client)
	found := make(chan informer.Mutation, 1)
	pods := factories.For[*corev1.Pod](factory, podResource, informer.WithMutationDetector(func(m informer.Mutation) { found <- m }))
	_, err := pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		// wrong: the object is shared
		AddFunc: func(pod *corev1.Pod, _ bool) { pod.Spec.NodeName = "node-8" },
	}, informer.WithHandlerName("scheduler"))
	must(err)
	must(factory.Start(ctx))
	m := <-found
	fmt.Println(m.Handler, m.Key, m.Path)
	must(factory.Shutdown(ctx))
	// Output: scheduler shop/blue .spec.nodeName
}
