// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// Resource is a collection of objects that can be listed, watched and deleted.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Resources returns the present collections.
type Resources func() []Resource

// of returns the collection that an owner reference refers to.
func (r Resources) of(ref metav1.OwnerReference) (found Resource, ok bool) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return Resource{}, false
	}
	for _, resource := range r() {
		if resource.Group == gv.Group && resource.Kind == ref.Kind {
			return resource, true
		}
	}
	return Resource{}, false
}

// in returns the client of the objects in a namespace, or of cluster-scoped ones.
func (r Resource) in(client metadata.Interface, namespace string) metadata.ResourceInterface {
	if !r.Namespaced {
		return client.Resource(r.GroupVersionResource)
	}
	return client.Resource(r.GroupVersionResource).Namespace(namespace)
}

// patchMetadata changes the metadata of an object as read. If the object has changed since, it is
// left alone, and the error is Conflict.
func patchMetadata(ctx context.Context, client metadata.ResourceInterface, read *metav1.PartialObjectMetadata, field string, value any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": read.UID, "resourceVersion": read.ResourceVersion, field: value,
	}})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, read.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
