// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InNamespace sets an object's namespace to the request's, or refuses a different one.
func (r *Request) InNamespace(obj metav1.Object) error {
	switch own := obj.GetNamespace(); {
	case own == r.Namespace:
	case own == "" || r.Namespace == "":
		obj.SetNamespace(r.Namespace)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// Named is InNamespace, and refuses a name other than the request's.
func (r *Request) Named(obj metav1.Object) error {
	if err := r.InNamespace(obj); err != nil {
		return err
	}
	switch obj.GetName() {
	case r.Name:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), r.Name))
}

// Conflict returns the refusal of a write that conflicts with the object.
func (r *Request) Conflict(err error) error {
	return apierrors.NewConflict(r.Resource.GroupResource(), r.Name, err)
}

// ErrModified is the conflict of a write based on an older version.
var ErrModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// NoVersion returns the refusal of an update without a resourceVersion. value is the value sent.
func (r *Request) NoVersion(value any, why string) error {
	// As in API servers, it is the resource.
	kind := schema.GroupKind{Group: r.Resource.Group, Kind: r.Resource.Resource}
	return Invalid(kind, r.Name, field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), value, why)})
}

// Keep copies fields that updates can't change from old to obj, and sets the generation: old's,
// plus one if changed.
func Keep(obj, old metav1.Object, changed bool) {
	obj.SetGeneration(old.GetGeneration())
	if changed {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if created := old.GetCreationTimestamp(); !created.IsZero() {
		obj.SetCreationTimestamp(created)
	}
	if deleted := old.GetDeletionTimestamp(); deleted != nil {
		obj.SetDeletionTimestamp(deleted)
	}
	if seconds := old.GetDeletionGracePeriodSeconds(); seconds != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(seconds)
	}
}

// Check returns the refusal of a delete if obj, of a kind, doesn't meet its preconditions.
func (w *Write) Check(kind schema.GroupKind, obj metav1.Object) error {
	uid, version := w.Preconditions.UID, w.Preconditions.ResourceVersion
	var err error
	switch {
	case uid != nil && *uid != obj.GetUID():
		err = fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *uid, obj.GetUID())
	case version != nil && *version != obj.GetResourceVersion():
		err = fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *version, obj.GetResourceVersion())
	default:
		return nil
	}
	// As in API servers, it is the kind.
	return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, obj.GetName(), err)
}

// MarkDeleted marks an object with finalizers as being deleted. It reports whether it wasn't marked
// before.
func MarkDeleted(obj metav1.Object) bool {
	if obj.GetDeletionTimestamp() != nil {
		return false
	}
	now := metav1.Now().Rfc3339Copy()
	obj.SetDeletionTimestamp(&now)
	obj.SetDeletionGracePeriodSeconds(new(int64))
	if generation := obj.GetGeneration(); generation > 0 {
		obj.SetGeneration(generation + 1)
	}
	return true
}

// Deleted returns the answer to a delete that has removed the object.
func (r *Request) Deleted(obj metav1.Object) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: obj.GetName(), Group: r.Resource.Group, Kind: r.Resource.Resource, UID: obj.GetUID()},
	}
}
