// SPDX-License-Identifier: Apache-2.0

package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NoMeta stands for the metadata missing from a projection, a type with some fields of an API type.
// The projection's metadata is a struct embedding NoMeta beside the fields it has, with their
// methods:
//
//	type PodPlacementMeta struct {
//		object.NoMeta
//		Name      string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
//		Namespace string `json:"namespace,omitempty" protobuf:"bytes,3,opt,name=namespace"`
//		… // UID, ResourceVersion, and further fields named by the projection
//	}
//
//	func (m *PodPlacementMeta) GetName() string     { return m.Name }
//	func (m *PodPlacementMeta) SetName(name string) { m.Name = name }
//
// NoMeta has all methods of [metav1.Object] except those of the four mandatory fields (Name,
// Namespace, UID, ResourceVersion), so a struct missing one of them is no [Object]. Its getters
// return zero values even if the server has, say, labels. So nothing may depend on them: selecting
// by labels finds no object of a projection without labels.
//
// NoMeta's setters do nothing. They serve functions of any [metav1.Object], such as a transform
// removing managed fields, which a projection may not have.
//
// The runtime treats every type whose metadata embeds NoMeta as a projection. Sources skip missing
// fields, and decode protobuf by the tags of the others. Writers refuse projections, because a
// write would remove the missing fields from the server.
//
// NoMeta has no size unless it is the last field of a struct.
type NoMeta struct{}

// GetGenerateName returns "".
func (NoMeta) GetGenerateName() string { return "" }

// SetGenerateName does nothing.
func (NoMeta) SetGenerateName(string) {}

// GetGeneration returns 0.
func (NoMeta) GetGeneration() int64 { return 0 }

// SetGeneration does nothing.
func (NoMeta) SetGeneration(int64) {}

// GetSelfLink returns "".
func (NoMeta) GetSelfLink() string { return "" }

// SetSelfLink does nothing.
func (NoMeta) SetSelfLink(string) {}

// GetCreationTimestamp returns the zero time.
func (NoMeta) GetCreationTimestamp() metav1.Time { return metav1.Time{} }

// SetCreationTimestamp does nothing.
func (NoMeta) SetCreationTimestamp(metav1.Time) {}

// GetDeletionTimestamp returns nil, also for an object that is being deleted.
func (NoMeta) GetDeletionTimestamp() *metav1.Time { return nil }

// SetDeletionTimestamp does nothing.
func (NoMeta) SetDeletionTimestamp(*metav1.Time) {}

// GetDeletionGracePeriodSeconds returns nil.
func (NoMeta) GetDeletionGracePeriodSeconds() *int64 { return nil }

// SetDeletionGracePeriodSeconds does nothing.
func (NoMeta) SetDeletionGracePeriodSeconds(*int64) {}

// GetLabels returns nil.
func (NoMeta) GetLabels() map[string]string { return nil }

// SetLabels does nothing.
func (NoMeta) SetLabels(map[string]string) {}

// GetAnnotations returns nil.
func (NoMeta) GetAnnotations() map[string]string { return nil }

// SetAnnotations does nothing.
func (NoMeta) SetAnnotations(map[string]string) {}

// GetFinalizers returns nil.
func (NoMeta) GetFinalizers() []string { return nil }

// SetFinalizers does nothing.
func (NoMeta) SetFinalizers([]string) {}

// GetOwnerReferences returns nil.
func (NoMeta) GetOwnerReferences() []metav1.OwnerReference { return nil }

// SetOwnerReferences does nothing.
func (NoMeta) SetOwnerReferences([]metav1.OwnerReference) {}

// GetManagedFields returns nil.
func (NoMeta) GetManagedFields() []metav1.ManagedFieldsEntry { return nil }

// SetManagedFields does nothing.
func (NoMeta) SetManagedFields([]metav1.ManagedFieldsEntry) {}
