// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestNamespacesOfTheStart(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	list, err := typed(t, s).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{FieldSelector: "status.phase=Active"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.Name)
		if ns.Labels[corev1.LabelMetadataName] != ns.Name || len(ns.Spec.Finalizers) != 1 {
			t.Errorf("namespace %+v", ns)
		}
	}
	if got := strings.Join(names, " "); got != "default kube-node-lease kube-public kube-system" {
		t.Errorf("the namespaces are %s", got)
	}
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		if err := typed(t, s).CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a deletion of %s returns %v, want Forbidden", name, err)
		}
	}
}

// Creates in a missing namespace are NotFound, for custom resources too.
func TestCreateInMissingNamespace(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t, "boats")
	_, err := typed(t, s).CoreV1().ConfigMaps("missing").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `namespaces "missing" not found`) {
		t.Errorf("a create returns %v, want NotFound", err)
	}
	b := boat("one", "a")
	b.SetNamespace("missing")
	c := client(t, s).Resource(boats)
	if _, err := c.Namespace("missing").Create(t.Context(), b, metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a create of a custom resource returns %v, want NotFound", err)
	}
	if _, err := c.Namespace("missing").Apply(t.Context(), "one", b, metav1.ApplyOptions{FieldManager: "test"}); !apierrors.IsNotFound(err) {
		t.Errorf("an apply returns %v, want NotFound", err)
	}
	if list, err := c.Namespace("missing").List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("a list returns %v, %v, want nothing", list, err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "missing"}}
	if _, err := typed(t, s).CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Namespace("missing").Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Errorf("right after the namespace's creation a create returns %v", err)
	}
}

func TestNamespaceIsDeletedWithItsContent(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t, "boats")
	c := typed(t, s)
	for _, name := range []string{"shop", "kept"} {
		if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			meta := metav1.ObjectMeta{Name: fmt.Sprint("n", i)}
			if _, err := c.CoreV1().ConfigMaps(name).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			seconds := int64(30) // no kubelet counts them
			pod := newPod(meta.Name)
			pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = "node", &seconds
			if _, err := c.CoreV1().Pods(name).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		b := boat("held", "a")
		b.SetNamespace(name)
		b.SetFinalizers([]string{"harbour.example.com/hold"})
		if _, err := client(t, s).Resource(boats).Namespace(name).Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	if err := c.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := c.CoreV1().ConfigMaps("shop").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("a create in a namespace that is deleted returns %v, want Forbidden", err)
	}
	eventually(t, func() error {
		ns, err := c.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		if err != nil {
			t.Fatalf("the namespace is gone before its content: %v", err)
		}
		for _, condition := range ns.Status.Conditions {
			if condition.Type == corev1.NamespaceContentRemaining && condition.Status == corev1.ConditionTrue &&
				strings.Contains(condition.Message, "boats.harbour.example.com has 1") && !strings.Contains(condition.Message, "pods") {
				return nil
			}
		}
		return fmt.Errorf("the status is %+v", ns.Status)
	})
	held := client(t, s).Resource(boats).Namespace("shop")
	if _, err := held.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := c.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the namespace is still there: %v", err)
	})
	for _, ns := range []string{"shop", "kept"} {
		maps, err := c.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{})
		if want := map[string]int{"kept": 3}[ns]; err != nil || len(maps.Items) != want {
			t.Errorf("%s has %d configmaps, want %d, %v", ns, len(maps.Items), want, err)
		}
	}
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("a new namespace of the same name: %v", err)
	}
}

func TestNamespaceWithFinalizerOfOthers(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	c := typed(t, s).CoreV1().Namespaces()
	ns, err := c.Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"example.com/mine"}},
	}, metav1.CreateOptions{})
	if err != nil || len(ns.Spec.Finalizers) != 2 {
		t.Fatalf("%v, %v", ns, err)
	}
	wrong := types.UID("other")
	if err := c.Delete(t.Context(), "shop", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}); !apierrors.IsConflict(err) {
		t.Errorf("a deletion with another UID returns %v, want Conflict", err)
	}
	ns.Spec.Finalizers = nil
	if ns, err = c.Update(t.Context(), ns, metav1.UpdateOptions{}); err != nil || len(ns.Spec.Finalizers) != 2 {
		t.Errorf("an update has changed the finalizers: %v, %v", ns, err)
	}
	for range 2 {
		if err := c.Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() error {
		ns, err = c.Get(t.Context(), "shop", metav1.GetOptions{})
		if err != nil {
			t.Fatalf("the namespace is gone before its finalizer: %v", err)
		}
		if len(ns.Spec.Finalizers) == 1 && ns.Status.Phase == corev1.NamespaceTerminating {
			return nil
		}
		return fmt.Errorf("it is %+v", ns)
	})
	ns.Spec.Finalizers = nil
	if _, err := c.Finalize(t.Context(), ns, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer Get returns %v, want NotFound", err)
	}
}
