// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FleetSpec is how a Fleet should be.
type FleetSpec struct {
	// Size is how many Boats the Fleet has.
	// +kubebuilder:validation:Minimum=0
	Size int32 `json:"size"`

	// Chart is the name of a ConfigMap whose key depth has the depth that the Boats sail in.
	// +kubebuilder:validation:MinLength=1
	Chart string `json:"chart"`
}

// FleetStatus is how a Fleet is.
type FleetStatus struct {
	// ObservedGeneration is that of the spec which the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ReadyBoats is how many of the Boats are ready.
	// +optional
	ReadyBoats int32 `json:"readyBoats,omitempty"`

	// Conditions has one of type Ready.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Fleet is a number of Boats that sail by one chart.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyBoats`
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FleetSpec   `json:"spec"`
	Status FleetStatus `json:"status,omitempty"`
}

// FleetList is a list of Fleets.
//
// +kubebuilder:object:root=true
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}
