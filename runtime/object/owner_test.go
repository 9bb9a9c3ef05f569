// SPDX-License-Identifier: Apache-2.0

package object_test

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func owned(refs ...metav1.OwnerReference) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue", OwnerReferences: refs}}
}

func TestControllerUID(t *testing.T) {
	yes, no := true, false
	controller := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "1", Controller: &yes}
	owner, former := controller, controller
	owner.UID, owner.Controller = "2", nil
	former.UID, former.Controller = "3", &no
	dynamic := &unstructured.Unstructured{Object: map[string]any{}}
	dynamic.SetOwnerReferences([]metav1.OwnerReference{owner, controller})
	for name, test := range map[string]struct {
		obj  metav1.Object
		want []types.UID
	}{
		"the controller":            {owned(controller), []types.UID{"0", "1"}},
		"a controller among owners": {owned(owner, former, controller), []types.UID{"0", "1"}},
		"an unstructured object":    {dynamic, []types.UID{"0", "1"}},
		"owners only":               {owned(owner, former), []types.UID{"0"}},
		"no owner":                  {owned(), []types.UID{"0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := object.ControllerUID(test.obj, []types.UID{"0"}); !slices.Equal(got, test.want) {
				t.Errorf("ControllerUID = %q, want %q", got, test.want)
			}
		})
	}
}

func TestOwnerNames(t *testing.T) {
	ref := func(apiVersion, kind, name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name}
	}
	obj := owned(
		ref("apps/v1", "Deployment", "v1"), ref("apps/v1beta2", "Deployment", "beta"), ref("extensions/v1beta1", "Deployment", "extension"),
		ref("apps/v1", "ReplicaSet", "set"), ref("v1", "Node", "core"), ref("/v1", "Node", "slash"), ref("node.k8s.io/v1", "Node", "other"),
		ref("", "Node", "nothing"), ref("/", "Node", "no version"), ref("apps/", "Deployment", "no version"), ref("apps", "Deployment", "a core version"),
		ref("apps/v1/v2", "Deployment", "two versions"), ref("/apps/v1", "Node", "two slashes"), ref("apps/v1", "deployment", "lower case"))
	for _, test := range []struct {
		owner schema.GroupKind
		want  []string
	}{
		{schema.GroupKind{Group: "apps", Kind: "Deployment"}, []string{"-", "v1", "beta"}},
		{schema.GroupKind{Group: "extensions", Kind: "Deployment"}, []string{"-", "extension"}},
		// as the API server parses apiVersions
		{schema.GroupKind{Kind: "Node"}, []string{"-", "core", "slash"}},
		{schema.GroupKind{Kind: "Deployment"}, []string{"-", "a core version"}},
		{schema.GroupKind{Group: "batch", Kind: "Job"}, []string{"-"}},
		{schema.GroupKind{}, []string{"-"}},
	} {
		if got := object.OwnerNames(obj, []string{"-"}, test.owner); !slices.Equal(got, test.want) {
			t.Errorf("OwnerNames of %v = %q, want %q", test.owner, got, test.want)
		}
	}
	if got := object.OwnerNames(owned(), nil, schema.GroupKind{Kind: "Node"}); got != nil {
		t.Errorf("OwnerNames without owners = %q, want nil", got)
	}
}

func TestOwnersAreFoundWithoutAllocations(t *testing.T) {
	yes := true
	var obj metav1.Object = owned(metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "1", Controller: &yes})
	uids, names := make([]types.UID, 0, 1), make([]string, 0, 1)
	owner := schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	if allocs := testing.AllocsPerRun(10, func() { uids = object.ControllerUID(obj, uids[:0]) }); allocs != 0 || len(uids) != 1 {
		t.Errorf("ControllerUID allocates %v times and returns %d keys, want 0 and 1", allocs, len(uids))
	}
	if allocs := testing.AllocsPerRun(10, func() { names = object.OwnerNames(obj, names[:0], owner) }); allocs != 0 || len(names) != 1 {
		t.Errorf("OwnerNames allocates %v times and returns %d keys, want 0 and 1", allocs, len(names))
	}
}

// Generated indexes by owner call these functions.
func ExampleOwnerNames() {
	yes := true
	pod := owned(metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d4f", UID: "41-42", Controller: &yes})
	fmt.Println(object.OwnerNames(pod, nil, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}))
	fmt.Println(object.ControllerUID(pod, nil))
	// Output:
	// [web-5d4f]
	// [41-42]
}
