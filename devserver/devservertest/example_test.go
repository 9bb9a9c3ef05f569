// SPDX-License-Identifier: Apache-2.0

package devservertest_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

var t *testing.T // of the test whose body an example shows

func TestExamples(test *testing.T) {
	t = test
	ExampleNew()
	ExampleStart()
}

// The body of a test with a real API server. It validates, and deletes the dependents of a deleted
// object. The server ends with the test.
func ExampleNew() {
	server := devservertest.New(t) // with a project's CRDs: New(t, "config/crd/bases")
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	wrong := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "Not A Name"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), wrong, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want that it is invalid", err)
	}

	maps := client.CoreV1().ConfigMaps("default")
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "owned",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}

	events, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: owned.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if err := maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range events.ResultChan() {
		if gone, ok := event.Object.(*corev1.ConfigMap); ok && event.Type == watch.Deleted && gone.Name == "owned" {
			return
		}
	}
	t.Error("the watch has ended")
}

// The body of a test of a server that does no more than envtest's: without a garbage collector, an
// object that is deleted in the foreground stays until a client removes its finalizer.
func ExampleStart() {
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), "a", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	deleted, err := maps.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || !slices.Equal(deleted.Finalizers, []string{metav1.FinalizerDeleteDependents}) {
		t.Errorf("got %v, %v, want that it waits", deleted, err)
	}
}
