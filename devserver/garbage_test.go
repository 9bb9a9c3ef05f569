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
	t *testing.T
	c typedcorev1.ConfigMapInterface
}

func newFamily(t *testing.T, s *devserver.Server) family {
	t.Helper()
	return family{t, typed(t, s).CoreV1().ConfigMaps("default")}
}

// add creates a member that owners own. A finalizer holds what is deleted.
func (f family) add(name string, finalizer string, owners ...*corev1.ConfigMap) *corev1.ConfigMap {
	f.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if finalizer != "" {
		cm.Finalizers = []string{finalizer}
	}
	for _, owner := range owners {
		cm.OwnerReferences = append(cm.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: new(true),
		})
	}
	cm, err := f.c.Create(f.t.Context(), cm, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return cm
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
	eventually(t, func() error { // the reference to what is gone goes too
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
	f.await("unknown") // an owner that can't be looked for is taken for there
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

// Without a collector a deletion is one in the background, and nothing follows from it.
func TestNoGarbageIsCollectedUnlessAskedFor(t *testing.T) {
	t.Parallel()
	f := newFamily(t, withBuiltIns(t))
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground} {
		name := strings.ToLower(string(policy))
		f.add(name+"-child", "", f.add(name, ""))
		f.delete(name, policy)
	}
	if got, want := f.left(), "background-child foreground-child orphan-child"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
}
