// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// fullPod returns Pod i of a workload. All Pods of a workload have equal parts.
func fullPod(namespace string, workload, i int) *corev1.Pod {
	yes := true
	p := pod(namespace, fmt.Sprintf("workload-%d-%05d", workload, i), fmt.Sprintf("node-%d", i%50))
	p.UID = types.UID(fmt.Sprintf("%08d-0000-4000-8000-%012d", workload, i))
	p.Labels = map[string]string{"app": fmt.Sprint("workload-", workload), "tier": "backend", "team": fmt.Sprint("team-", workload%7)}
	p.Annotations = map[string]string{"example.com/config": fmt.Sprintf("%d: a text that all Pods of the workload have", workload)}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprint("workload-", workload), Controller: &yes}}
	managed := &metav1.FieldsV1{} // the oldest supported apimachinery lacks NewFieldsV1
	if err := managed.UnmarshalJSON(fmt.Appendf(nil, `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:number":{"v:%d":{}}}}}}`, i)); err != nil {
		panic(err)
	}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: managed}}
	for _, name := range []string{"main", "sidecar"} {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name: name, Image: fmt.Sprintf("registry.example/team/%s-%d:v1", name, workload),
			Env: []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "WORKLOAD", Value: fmt.Sprint(workload)}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu": resource.MustParse("100m"), "memory": resource.MustParse(fmt.Sprintf("%dMi", 100+workload)),
			}},
			VolumeMounts: []corev1.VolumeMount{{Name: "token", MountPath: "/var/run/secrets"}},
		})
	}
	p.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", workload, i/250, i%250)
	return p
}

func stripManagedFields(p *corev1.Pod) (*corev1.Pod, error) {
	p.ManagedFields = nil
	return p, nil
}

// TestTransformedObjectsShareTheirParts shows that objects share parts that a transform leaves
// alone, also with objects of other streams, and that changed parts have the transform's values.
func TestTransformedObjectsShareTheirParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop()
		for i := range 20 {
			shop.Pods.Create(fullPod("north", 1, i))
			shop.Pods.Create(fullPod("south", 1, 100+i))
		}
		label := func(p *corev1.Pod) (*corev1.Pod, error) {
			p.Annotations["own"] = p.Name
			return p, nil
		}
		pods := factories.For[*corev1.Pod](shop.Factory(t, informer.WithNamespace("north", "south")), podResource, informer.WithTransform(label))
		start(t, pods)
		labels, owners, containers, annotations := map[uintptr]int{}, map[uintptr]int{}, map[uintptr]int{}, map[uintptr]int{}
		for p := range pods.Store().Snapshot().All() {
			labels[reflect.ValueOf(p.Labels).Pointer()]++
			owners[reflect.ValueOf(p.OwnerReferences).Pointer()]++
			containers[reflect.ValueOf(p.Spec.Containers).Pointer()]++
			annotations[reflect.ValueOf(p.Annotations).Pointer()]++
			if p.Annotations["own"] != p.Name || p.Labels["app"] != "workload-1" {
				t.Errorf("pod %s has annotations %v and labels %v", p.Name, p.Annotations, p.Labels)
			}
		}
		for what, copies := range map[string]map[uintptr]int{"labels": labels, "owners": owners, "containers": containers} {
			if most := slices.Max(slices.Collect(maps.Values(copies))); most < 35 {
				t.Errorf("%d of 40 objects share their %s, want at least 35", most, what)
			}
		}
		if len(annotations) != 40 {
			t.Errorf("40 objects have %d different maps of annotations, want 40", len(annotations))
		}
	})
}

// TestTransformsRetainAsLittleAsDropping shows that an informer with a transform, one that does
// nothing or one that removes managedFields, keeps as much memory as one whose source drops
// managedFields.
func TestTransformsRetainAsLittleAsDropping(t *testing.T) {
	shop := newShop()
	const n = 4000
	for i := range n {
		shop.Pods.Create(fullPod(fmt.Sprint("team-", i/50%20), i/50, i))
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	retained := func(opts ...informer.Option) int {
		pods := factories.For[*corev1.Pod](shop.Factory(t), podResource, append(opts, informer.WithFormats(source.JSON))...)
		lease, err := pods.Acquire(t.Context())
		noError(t, err)
		noError(t, pods.WaitForCacheSync(t.Context()))
		if got := pods.Store().Snapshot().Len(); got != n {
			t.Fatalf("the store has %d objects, want %d", got, n)
		}
		noError(t, lease.Release(t.Context()))
		with := heap()
		runtime.KeepAlive(pods)
		pods = nil
		return (with - heap()) / n
	}
	dropping := retained(informer.WithoutManagedFields())
	for what, opts := range map[string][]informer.Option{
		"identity": {informer.WithoutManagedFields(), informer.WithTransform(identity)},
		"removing": {informer.WithTransform(stripManagedFields)},
	} {
		if got := retained(opts...); 10*got > 11*dropping {
			t.Errorf("%s: %d bytes for each object, want at most a tenth more than %d with dropping", what, got, dropping)
		} else {
			t.Logf("%s: %d bytes for each object, %d with dropping", what, got, dropping)
		}
	}
}

// TestMutationsOfSharedPartsOfTransformedObjects shows that the mutation detector finds mutations
// of parts that transformed objects share.
func TestMutationsOfSharedPartsOfTransformedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop()
		for i := range 5 {
			shop.Pods.Create(fullPod("shop", 1, i))
		}
		var mu sync.Mutex
		found := map[string]bool{}
		pods := factories.For[*corev1.Pod](shop.Factory(t), podResource, informer.WithTransform(identity), informer.WithMutationDetector(func(m informer.Mutation) {
			mu.Lock()
			defer mu.Unlock()
			found[m.Key.Name+m.Path] = true
		}))
		stop := start(t, pods)
		last, _ := pods.Store().Snapshot().Get(object.KeyOf(fullPod("shop", 1, 4)))
		synctest.Wait() // the detector doesn't read now
		last.Labels["tier"] = "changed"
		stop()
		mu.Lock()
		defer mu.Unlock()
		for _, i := range []int{3, 4} { // they share their labels
			if path := fullPod("shop", 1, i).Name + `.metadata.labels["tier"]`; !found[path] {
				t.Errorf("the mutation of %s was not reported: %v", path, found)
			}
		}
	})
}

// TestFailedTransformsLeaveNothing shows that failed transforms leave nothing in the cache, and
// that later objects are right.
func TestFailedTransformsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(fullPod("shop", 1, 0), fullPod("shop", 1, 1), fullPod("shop", 1, 2))
		fails := 4
		pods := factories.For[*corev1.Pod](shop.Factory(t), podResource, informer.WithTransform(func(p *corev1.Pod) (*corev1.Pod, error) {
			p.Labels["tier"] = "transformed"
			switch fails--; {
			case fails < 0:
			case fails%2 == 0:
				p.Labels["tier"] = "failed"
				return p, errors.New("it fails")
			default:
				p.Labels["tier"] = "panicked"
				panic("it panics")
			}
			return p, nil
		}))
		start(t, pods)
		noError(t, pods.WaitForCacheSync(t.Context()))
		n := 0
		for p := range pods.Store().Snapshot().All() {
			if n++; p.Labels["tier"] != "transformed" {
				t.Errorf("pod %s has labels %v, want tier=transformed", p.Name, p.Labels)
			}
		}
		if n != 3 {
			t.Errorf("the store has %d objects, want 3", n)
		}
	})
}
