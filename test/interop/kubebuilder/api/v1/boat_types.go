// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BoatSpec is how a Boat should be.
type BoatSpec struct {
	// Depth is that of the water that the Boat sails in.
	Depth string `json:"depth"`
}

// BoatStatus is how a Boat is.
type BoatStatus struct {
	// Log is the name of the ConfigMap that the Boat owns.
	// +optional
	Log string `json:"log,omitempty"`

	// Conditions has one of type Ready, whose observedGeneration is that of the spec which the log
	// has.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Boat keeps a log of the depth that it sails in.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Depth",type=string,JSONPath=`.spec.depth`
type Boat struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BoatSpec   `json:"spec"`
	Status BoatStatus `json:"status,omitempty"`
}

// BoatList is a list of Boats.
//
// +kubebuilder:object:root=true
type BoatList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Boat `json:"items"`
}
