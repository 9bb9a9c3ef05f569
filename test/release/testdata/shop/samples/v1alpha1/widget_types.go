// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the API types of the sample project in docs/migrate.md.
// +groupName=samples.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +kubebuilder:object:root=true

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	deep := *w
	w.ObjectMeta.DeepCopyInto(&deep.ObjectMeta)
	return &deep
}
