// SPDX-License-Identifier: Apache-2.0

package mutation_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestPromise10MutationsOfCachedObjectsAreReported changes cached objects in a handler and in a
// reader of an informer. For the race detector, it changes none during a pass over all objects;
// passes begin each second. The Detector's lock orders the changes in callbacks, and the following
// write to the server orders those of the reader.
func TestPromise10MutationsOfCachedObjectsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		resource := corev1.SchemeGroupVersion.WithResource("pods")
		pods := sourcetest.Serve[*corev1.Pod](server, resource, "Pod")
		for _, name := range []string{"blue", "green"} {
			pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}})
		}
		client, err := source.NewClient(server.Config())
		if err != nil {
			t.Fatal(err)
		}

		var mu sync.Mutex // guards reported
		var reported []string
		want := func(lines ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(reported, lines) {
				t.Errorf("reported %q, want %q", reported, lines)
			}
			reported = nil
		}
		factory := factories.New(client, informer.WithMutationDetector(func(m informer.Mutation) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, fmt.Sprintf("%s %s %s %s", m.Informer, m.Handler, m.Key, m.Path))
		}))
		cache := factories.For[*corev1.Pod](factory, resource)
		add := func(name string, handler informer.HandlerFuncs[*corev1.Pod]) {
			if _, err := cache.AddEventHandler(handler, informer.WithHandlerName(name)); err != nil {
				t.Fatal(err)
			}
		}
		add("bad", informer.HandlerFuncs[*corev1.Pod]{
			UpdateFunc: func(_, pod *corev1.Pod) { pod.Spec.NodeName = "here" },
			DeleteFunc: func(deleted informer.Deleted[*corev1.Pod]) { deleted.Object.Finalizers = []string{"mine"} },
		})
		if err := factory.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := factory.WaitForCacheSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10500 * time.Millisecond)
		want()

		pods.Update(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue", Labels: map[string]string{"a": "b"}}})
		want(`pods/v1 bad shop/blue .spec.nodeName`)
		pods.Delete("shop", "green")
		want(`pods/v1 bad shop/green .metadata.finalizers`)
		time.Sleep(10 * time.Second)
		want()

		blue, ok := cache.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		if !ok {
			t.Fatal("the store lacks shop/blue")
		}
		delete(blue.Labels, "a")
		pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "red"}})
		want()
		time.Sleep(time.Second)
		want(`pods/v1  shop/blue .metadata.labels["a"]`)

		blue.Labels["a"] = "c"
		if err := factory.Shutdown(t.Context()); err != nil { // a last pass
			t.Fatal(err)
		}
		want(`pods/v1  shop/blue .metadata.labels["a"]`)
	})
}
