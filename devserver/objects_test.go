// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/devserver"
)

func TestObjectsAreServedAsInACluster(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	ctx := t.Context()
	c := client(t, s).Resource(boats).Namespace("default")

	created := create(t, s, "ada", "a")
	// Upstream, a create waits for 2 s if the CRD was established less than 2 s before.
	if age := time.Since(established(t, s)); age < 30*time.Second {
		t.Errorf("the CRD was established %v ago, by its condition; want an older one", age)
	}
	if created.GetUID() == "" || created.GetGeneration() != 1 {
		t.Errorf("created %v, want a UID and generation 1", created)
	}
	if _, err := c.Create(ctx, boat("ada", "a"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the second create returns %v, want AlreadyExists", err)
	}

	update := created.DeepCopy()
	setField(t, update, "b", "spec", "berth")
	updated, err := c.Update(ctx, update, metav1.UpdateOptions{})
	if err != nil || updated.GetGeneration() != 2 {
		t.Fatalf("update: %v, %v", updated, err)
	}
	if _, err := c.Update(ctx, update, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old state returns %v, want Conflict", err)
	}

	setField(t, updated, "moored", "status", "phase")
	setField(t, updated, "ignored", "spec", "berth")
	updated, err = c.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := field(updated, "status", "phase") + " " + field(updated, "spec", "berth"); got != "moored b" {
		t.Errorf("after UpdateStatus status and spec are %q", got)
	}

	patched, err := c.Patch(ctx, "ada", types.MergePatchType, []byte(`{"spec":{"berth":"c","unknown":1}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, pruned, _ := unstructured.NestedFieldNoCopy(patched.Object, "spec", "unknown"); pruned || field(patched, "spec", "berth") != "c" {
		t.Errorf("patched to %v", patched)
	}

	applied, err := c.Apply(ctx, "bea", boat("bea", "d"), metav1.ApplyOptions{FieldManager: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if fields := applied.GetManagedFields(); len(fields) != 1 || fields[0].Manager != "test" {
		t.Errorf("server-side apply left managed fields %v", fields)
	}

	if err := c.Delete(ctx, "ada", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(ctx, "ada", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a deleted object returns %v, want NotFound", err)
	}
}

// established returns when boats were established, by the condition of their CRD.
func established(t *testing.T, s *devserver.Server) time.Time {
	t.Helper()
	c, err := clientset.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	crd, err := c.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), boatCRD().Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.LastTransitionTime.Time
		}
	}
	t.Fatalf("it is not established: %+v", crd.Status)
	return time.Time{}
}

func TestWatchListEndsWithABookmark(t *testing.T) {
	t.Parallel()
	for _, cache := range []bool{true, false} {
		t.Run(fmt.Sprintf("watchCache=%v", cache), func(t *testing.T) {
			t.Parallel()
			testWatchList(t, start(t, devserver.Options{CRDs: crds{boatCRD()}, DisableWatchCache: !cache}))
		})
	}
}

func testWatchList(t *testing.T, s *devserver.Server) {
	create(t, s, "first", "a")
	second := create(t, s, "second", "a")
	w := openWatch(t, s, metav1.ListOptions{
		SendInitialEvents:    new(true),
		AllowWatchBookmarks:  true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	wantEvent(t, w, watch.Added, "first")
	wantEvent(t, w, watch.Added, "second")
	e, _ := next(t, w)
	if e.Type != watch.Bookmark {
		t.Fatalf("got event %s, want the bookmark", e.Type)
	}
	bookmark := e.Object.(*unstructured.Unstructured)
	if bookmark.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("the bookmark's annotations are %v", bookmark.GetAnnotations())
	}
	if got, want := bookmark.GetResourceVersion(), second.GetResourceVersion(); got < want {
		t.Errorf("the bookmark stands at %s, before the newest object's %s", got, want)
	}
	create(t, s, "third", "a")
	wantEvent(t, w, watch.Added, "third")
}

func setField(t *testing.T, b *unstructured.Unstructured, value string, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(b.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func field(b *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(b.Object, path...)
	return value
}

func names(list *unstructured.UnstructuredList) (names []string) {
	for _, b := range list.Items {
		names = append(names, b.GetName())
	}
	return names
}
