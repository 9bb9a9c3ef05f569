// SPDX-License-Identifier: Apache-2.0

// Package patches adds strategic merge patches and server-side apply to a server of package
// sourcetest, which has a field for [All]. It is a separate package because it imports Kubernetes'
// OpenAPI libraries. It starts no goroutine and never blocks.
package patches

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// All supports the same patches as an API server. Set it as a server's Patches.
type All struct {
	// TypeConverter has the schemas for merging apply patches. If it is nil, or doesn't know a
	// kind, lists are replaced as a whole. For built-in kinds use NewTypeConverter of
	// k8s.io/client-go/applyconfigurations.
	TypeConverter managedfields.TypeConverter
}

// StrategicMerge applies a strategic merge patch to an object's JSON. like is an object of the same
// Go type.
func (All) StrategicMerge(content, patch []byte, like runtime.Object) ([]byte, error) {
	return strategicpatch.StrategicMergePatch(content, patch, like)
}

// Apply returns live with the fields of applied, now owned by manager. It fails with a conflict if
// it would change fields of other managers and force isn't set. Ownership of a subresource's fields
// is recorded separately. empty is a zero object of the same Go type.
func (a All) Apply(empty, live, applied *unstructured.Unstructured, subresource, manager string, force bool) (runtime.Object, error) {
	fields, err := a.fields(empty, subresource)
	if err != nil {
		return nil, err
	}
	return fields.Apply(live, applied, manager, force)
}

// Update returns changed, with manager as the owner of the fields that differ from live. empty is a
// zero object of the same Go type.
func (a All) Update(empty, live, changed *unstructured.Unstructured, subresource, manager string) (runtime.Object, error) {
	fields, err := a.fields(empty, subresource)
	if err != nil {
		return nil, err
	}
	return fields.Update(live, changed, manager)
}

func (a All) fields(empty *unstructured.Unstructured, subresource string) (*managedfields.FieldManager, error) {
	kind := empty.GroupVersionKind()
	converter := a.TypeConverter
	if converter != nil {
		if _, err := converter.ObjectToTyped(empty); err != nil {
			converter = nil // it doesn't know the kind
		}
	}
	if converter == nil {
		converter = managedfields.NewDeducedTypeConverter()
	}
	as := identity{empty}
	return managedfields.NewDefaultCRDFieldManager(converter, as, as, as, kind, kind.GroupVersion(), subresource, nil)
}

// identity converts and defaults nothing: there is one version.
type identity struct{ empty *unstructured.Unstructured }

func (identity) Default(runtime.Object) {}

func (identity) Convert(_, _, _ any) error { return errors.New("there is one version of each kind") }

func (identity) ConvertToVersion(obj runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return obj, nil
}

func (identity) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// New returns an empty object.
func (a identity) New(schema.GroupVersionKind) (runtime.Object, error) {
	return a.empty.DeepCopy(), nil
}
