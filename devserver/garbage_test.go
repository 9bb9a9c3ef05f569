// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/informer-gen/informer-gen/devserver"
)

// family are configmaps that own each other.
type family struct {
	t testing.TB
	c typedcorev1.ConfigMapInterface
}

func newFamily(t testing.TB, s *devserver.Server) family {
	t.Helper()
	return family{t, typed(t, s).CoreV1().ConfigMaps("default")}
}

// add creates a member with owners. A finalizer holds it when it is deleted.
func (f family) add(name string, finalizer string, owners ...*corev1.ConfigMap) *corev1.ConfigMap {
	f.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if finalizer != "" {
		cm.Finalizers = []string{finalizer}
	}
	for _, owner := range owners {
		cm.OwnerReferences = append(cm.OwnerReferences, reference(owner))
	}
	cm, err := f.c.Create(f.t.Context(), cm, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return cm
}

// reference is one that keeps an owner that is deleted in the foreground.
func reference(to *corev1.ConfigMap) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: to.Name, UID: to.UID, BlockOwnerDeletion: new(true)}
}

func (f family) delete(name string, policy metav1.DeletionPropagation) {
	f.t.Helper()
	if err := f.c.Delete(f.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		f.t.Fatal(err)
	}
}

// await waits until these members are left; one that is marked with a star is deleted, and held.
func (f family) await(want string) {
	f.t.Helper()
	eventually(f.t, func() error {
		if got := f.left(); got != want {
			return fmt.Errorf("left are %q, want %q", got, want)
		}
		return nil
	})
}

func (f family) left() string {
	f.t.Helper()
	list, err := f.c.List(f.t.Context(), metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, cm := range list.Items {
		name := cm.Name
		if cm.DeletionTimestamp != nil {
			name += "*"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (f family) letGo(name string) {
	f.t.Helper()
	if _, err := f.c.Patch(f.t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

const hold = "example.com/hold"

func TestGarbageInTheBackground(t *testing.T) {
	t.Parallel()
	f := newFamily(t, start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true}))
	a, b := f.add("a", ""), f.add("b", "")
	child := f.add("child", "", a)
	f.add("grandchild", "", child)
	f.add("of-both", "", a, b)
	f.add("of-none", "")
	f.delete("a", metav1.DeletePropagationBackground)
	f.await("b of-both of-none")
	eventually(t, func() error { // the reference to a missing owner goes too
		cm, err := f.c.Get(t.Context(), "of-both", metav1.GetOptions{})
		if err != nil || len(cm.OwnerReferences) != 1 || cm.OwnerReferences[0].Name != "b" {
			return fmt.Errorf("it is %+v, %v", cm, err)
		}
		return nil
	})
	f.delete("b", metav1.DeletePropagationBackground)
	f.await("of-none")
	f.add("late", "", b) // whose owner was gone before
	f.await("of-none")

	again := f.add("a", "")
	f.add("of-the-first", "", a) // the name is there, the object isn't
	f.add("of-the-second", "", again)
	f.await("a of-none of-the-second")
}

func TestGarbageInTheForeground(t *testing.T) {
	t.Parallel()
	f := newFamily(t, start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true}))
	a := f.add("a", "")
	child := f.add("child", "", a)
	f.add("grandchild", hold, child)
	f.delete("a", metav1.DeletePropagationForeground)
	f.await("a* child* grandchild*")
	f.letGo("grandchild")
	f.await("")
}

func TestGarbageIsOrphaned(t *testing.T) {
	t.Parallel()
	f := newFamily(t, start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true}))
	a := f.add("a", "")
	f.add("child", "", a)
	f.delete("a", metav1.DeletePropagationOrphan)
	f.await("child")
	cm, err := f.c.Get(t.Context(), "child", metav1.GetOptions{})
	if err != nil || len(cm.OwnerReferences) != 0 {
		t.Errorf("the orphan is %+v, %v", cm, err)
	}
}

// Custom resources of a CRD that is installed later own and are owned.
func TestGarbageOfCustomResources(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true})
	f := newFamily(t, s)
	if err := s.InstallCRDs(t.Context(), boatCRD()); err != nil {
		t.Fatal(err)
	}
	c := client(t, s).Resource(boats).Namespace("default")
	ada := create(t, s, "ada", "a")
	ref := func(name string, uid types.UID, kind, version string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: uid}}
	}
	cargo := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cargo", OwnerReferences: ref("ada", ada.GetUID(), "Boat", boats.GroupVersion().String())}}
	cargo, err := f.c.Create(t.Context(), cargo, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	unknown := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "unknown", OwnerReferences: ref("x", "x", "Ship", "sea.example.com/v1")}}
	if _, err := f.c.Create(t.Context(), unknown, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	dinghy := boat("dinghy", "a")
	dinghy.SetOwnerReferences(ref("cargo", cargo.UID, "ConfigMap", "v1"))
	if _, err := c.Create(t.Context(), dinghy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), "ada", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if _, err := c.Get(t.Context(), "dinghy", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("what the cargo owned: %v", err)
		}
		return nil
	})
	f.await("unknown") // an owner of an unknown kind is assumed to exist
}

// A collector without built-in kinds.
func TestGarbageOfCustomResourcesOnly(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}, CollectGarbage: true})
	ada := create(t, s, "ada", "a")
	dinghy := boat("dinghy", "a")
	dinghy.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: boats.GroupVersion().String(), Kind: "Boat", Name: "ada", UID: ada.GetUID()}})
	c := client(t, s).Resource(boats).Namespace("default")
	if _, err := c.Create(t.Context(), dinghy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), "ada", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		list, err := c.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 0 {
			return fmt.Errorf("left are %v, %v", list, err)
		}
		return nil
	})
}

// Owners in a circle don't wait for each other.
func TestGarbageInACircle(t *testing.T) {
	t.Parallel()
	f := newFamily(t, start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true}))
	a := f.add("a", "")
	a.OwnerReferences = []metav1.OwnerReference{reference(f.add("c", "", f.add("b", "", a)))}
	if _, err := f.c.Update(t.Context(), a, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.delete("a", metav1.DeletePropagationForeground)
	f.await("")
}

// A dependent that doesn't keep its owner goes as soon as the deletion in the foreground begins.
func TestGarbageThatKeepsNoOwner(t *testing.T) {
	t.Parallel()
	f := newFamily(t, start(t, devserver.Options{BuiltInKinds: true, CollectGarbage: true}))
	a := f.add("a", "")
	f.add("held", hold, a)
	free := f.add("free", "", a)
	free.OwnerReferences[0].BlockOwnerDeletion = nil
	if _, err := f.c.Update(t.Context(), free, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.delete("a", metav1.DeletePropagationForeground)
	f.await("a* held*")
	f.letGo("held")
	f.await("")
}

// Without a collector nothing follows from a deletion: the finalizers of the API server stay until
// a client removes them.
func TestNoGarbageIsCollectedUnlessAskedFor(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	f := newFamily(t, s)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground} {
		name := strings.ToLower(string(policy))
		f.add(name+"-child", "", f.add(name, ""))
		f.delete(name, policy)
	}
	if got, want := f.left(), "background-child foreground* foreground-child orphan* orphan-child"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
	f.letGo("foreground")
	f.letGo("orphan")
	if got, want := f.left(), "background-child foreground-child orphan-child"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
}

// A Job orphans its Pods unless its deletion names another policy, as a namespace's does.
func TestJobIsDeletedWithItsNamespace(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	jobs := c.BatchV1().Jobs("shop")
	for _, name := range []string{"a", "b"} {
		if _, err := jobs.Create(t.Context(), newJob(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := jobs.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	a, err := jobs.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || fmt.Sprint(a.Finalizers) != "[orphan]" {
		t.Fatalf("the Job is %+v, %v", a, err)
	}
	if _, err := jobs.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if _, err := c.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the namespace: %v", err)
		}
		return nil
	})
}
