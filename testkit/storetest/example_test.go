// SPDX-License-Identifier: Apache-2.0

package storetest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/storetest"
)

var t *testing.T // of the test that runs the examples

func TestExamples(test *testing.T) {
	t = test
	ExampleNew()
	ExampleRun()
}

// unassigned is the function under test. It returns the names of the Pods without a Node.
func unassigned(pods lister.Lister[*corev1.Pod]) (names []string, err error) {
	list, err := pods.List(labels.Everything())
	for _, pod := range list {
		if pod.Spec.NodeName == "" {
			names = append(names, pod.Name)
		}
	}
	return names, err
}

// The body of a unit test of a function with a lister. It needs no informer and no server.
func ExampleNew() {
	pod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	}
	pods := storetest.New(t, pod("blue", ""), pod("green", "node-1"))
	podLister := lister.New(pods, corev1.Resource("pods")) // or a generated one
	if names, err := unassigned(podLister); err != nil || len(names) != 1 || names[0] != "blue" {
		t.Errorf("got %q, %v, want blue", names, err)
	}
	storetest.Set(t, pods, pod("blue", "node-1"))
	if names, err := unassigned(podLister); err != nil || len(names) != 0 {
		t.Errorf("got %q, %v after all have a Node", names, err)
	}
}

// replica is the type under test: a store that follows the store of another process.
type replica struct{ *store.Store[storetest.Object] }

// follow makes the replica equal to the other store at a resourceVersion.
func (r replica) follow(changed []storetest.Object, gone []object.Key, resourceVersion string) error {
	return r.Update(func(x *store.Txn[storetest.Object]) error {
		for _, obj := range changed {
			if err := x.Set(obj); err != nil {
				return err
			}
		}
		for _, key := range gone {
			x.Delete(key)
		}
		x.SetResourceVersion(resourceVersion)
		return nil
	})
}

// The body of a test that runs the conformance suite with another store.
func ExampleRun() {
	storetest.Run(t, func(t *testing.T, indexes ...store.AnyIndex[storetest.Object]) storetest.Rig {
		s, err := store.New(indexes...)
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Rig{Reader: s, Apply: func(set []storetest.Object, deleted []object.Key, rv string) {
			if err := (replica{s}).follow(set, deleted, rv); err != nil {
				t.Error(err)
			}
		}}
	})
}
