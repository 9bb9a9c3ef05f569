// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestSelectedNamespacesAreShown: the list of namespaces is forbidden, then allowed, then forbidden
// again.
func TestSelectedNamespacesAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		namespaces := sourcetest.Serve[*corev1.Namespace](server.Server, corev1.SchemeGroupVersion.WithResource("namespaces"), "Namespace")
		namespaces.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"env": "prod"}}})
		allow := server.refuse("namespaces", http.StatusForbidden)
		f := server.factory(t, informer.WithNamespaceSelector(labels.SelectorFromSet(labels.Set{"env": "prod"})))
		factories.For[*corev1.Pod](f, podResource)
		defer start(t, f)()
		h, ready := inspect.Handler(f), inspect.Ready(f)
		const prefix = "not ready: 1 of 1 informers have not synced: pods/v1 waits for namespaces matching env=prod: waiting to try again (forbidden, 2 failures in a row)"
		if err := ready(nil); err == nil || err.Error() != prefix {
			t.Errorf("Ready() = %v, want %s", err, prefix)
		}
		contains(t, page(t, h, "/"), "It has not synced: namespaces matching env=prod: forbidden (Forbidden); 2 failures in a row",
			"Give the account the verbs list and watch for namespaces, in the whole cluster.")
		contains(t, reported(t, h, "/?key=shop/blue").Key.Informers[0].Why, "Unknown: the informer waits for namespaces matching env=prod. Forbidden (Forbidden); ")

		allow()
		time.Sleep(time.Minute)
		if err := ready(nil); err != nil {
			t.Error(err)
		}
		contains(t, page(t, h, "/"), "in namespaces matching env=prod healthy", "in shop healthy")
		same(t, "of the namespace", reported(t, h, "/?key=shop/blue").Key.Informers[0].Why, "Stored.")
		contains(t, reported(t, h, "/?key=bank/blue").Key.Informers[0].Why, "Not read: the informer reads only namespaces matching env=prod; the list of these is at resourceVersion ")

		server.refuse("namespaces", http.StatusForbidden)
		server.EndWatches()
		time.Sleep(time.Minute)
		if err := ready(nil); err != nil {
			t.Error(err)
		}
		contains(t, page(t, h, "/"), "It has synced, but its state may be old: namespaces matching env=prod: ")
	})
}
