// SPDX-License-Identifier: Apache-2.0

// Package v1 has the API types of README's program, as kubebuilder lays them out.
// +groupName=shop.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	GroupVersion  = schema.GroupVersion{Group: "shop.example.com", Version: "v1"}
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
)

// +kubebuilder:object:root=true
// +informer:index:name=ByNode,field=.spec.nodeName

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WidgetSpec `json:"spec"`
}

type WidgetSpec struct {
	NodeName string `json:"nodeName,omitempty"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	deep := *w
	w.ObjectMeta.DeepCopyInto(&deep.ObjectMeta)
	return &deep
}
