// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func (c *collection) apply(r Request, options metav1.PatchOptions, old object.Object) (object.Object, error) {
	patch := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(r.Body, &patch.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	c.dropUnwritable(patch, r.Subresource)
	empty, err := untyped(c.newObject())
	if err != nil {
		return nil, err
	}
	live, err := untyped(old)
	if err != nil {
		return nil, err
	}
	merged, err := c.server.Patches.Apply(empty, live, patch, r.Subresource, options.FieldManager, options.Force != nil && *options.Force)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	return c.decode(JSON, options.FieldValidation, content)
}

// dropUnwritable removes fields the apply patch may not write, so that its sender doesn't own them.
func (c *collection) dropUnwritable(patch *unstructured.Unstructured, subresource string) {
	if subresource != statusPart {
		if c.hasStatus() {
			delete(patch.Object, "status")
		}
		return
	}
	maps.DeleteFunc(patch.Object, func(field string, _ any) bool {
		return !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field)
	})
	if metadata, ok := patch.Object["metadata"].(map[string]any); ok {
		maps.DeleteFunc(metadata, func(field string, _ any) bool {
			return !slices.Contains([]string{"name", "namespace", "uid", "resourceVersion", "managedFields"}, field)
		})
	}
}

// recordOwner records in obj the fields changed by a request other than an apply patch. It does so
// only for objects that were applied before.
func (e edit) recordOwner(c *collection, obj, old object.Object) error {
	if len(old.GetManagedFields()) == 0 || e.applies || c.server.Patches == nil {
		return nil
	}
	name := e.sent.Query.Get("fieldManager")
	if name == "" {
		name, _, _ = strings.Cut(e.sent.UserAgent, "/")
	}
	empty, err := untyped(c.newObject())
	if err != nil {
		return err
	}
	live, err := untyped(old)
	if err != nil {
		return err
	}
	next, err := untyped(obj)
	if err != nil {
		return err
	}
	owned, err := c.server.Patches.Update(empty, live, next, e.sent.Subresource, name)
	if err != nil {
		return err
	}
	obj.SetManagedFields(owned.(object.Object).GetManagedFields())
	return nil
}

// keepTimes restores the old times of field owners if nothing else has changed: an API server
// writes nothing then.
func keepTimes(obj, old object.Object) {
	owners, before := obj.GetManagedFields(), old.GetManagedFields()
	if len(owners) != len(before) || len(owners) == 0 {
		return
	}
	kept := slices.Clone(owners)
	for i := range kept {
		kept[i].Time = before[i].Time
	}
	if obj.SetManagedFields(kept); !same(obj, old) {
		obj.SetManagedFields(owners)
	}
}

func untyped(obj object.Object) (*unstructured.Unstructured, error) {
	if obj, ok := obj.(*unstructured.Unstructured); ok {
		return obj.DeepCopy(), nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	return &unstructured.Unstructured{Object: content}, err
}
