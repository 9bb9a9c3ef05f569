// SPDX-License-Identifier: Apache-2.0

package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Meta is the metadata that decides to which part of a collection an object belongs. It doesn't
// change while the object exists, except for Controller, if the object is adopted or released.
type Meta struct {
	Namespace, Name string
	UID             types.UID
	// Controller is the owner reference with controller: true; nil for none. It is read-only.
	Controller *metav1.OwnerReference
}

// MetaOf returns the Meta of obj, which must not be nil. Its Controller is part of obj or a copy.
func MetaOf(obj metav1.Object) Meta {
	return Meta{Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), Controller: metav1.GetControllerOfNoCopy(obj)}
}
