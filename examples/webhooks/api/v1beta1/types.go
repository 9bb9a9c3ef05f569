// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has the old version of this project's kinds.
//
// +kubebuilder:object:generate=true
// +groupName=tutorial.example.com
// +versionName=v1beta1
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TeamSpec is the desired state of a team.
type TeamSpec struct {
	// Members are the names of its members, separated by commas.
	Members string `json:"members,omitempty"`
	// Lead is the name of the member who leads; by default the first one.
	Lead string `json:"lead,omitempty"`
}

// Team is a group of people, one of whom leads.
//
// +kubebuilder:object:root=true
type Team struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TeamSpec `json:"spec,omitempty"`
}

// TeamList is a list of teams.
//
// +kubebuilder:object:root=true
type TeamList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Team `json:"items"`
}

// AddToScheme registers the kinds of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "tutorial.example.com", Version: "v1beta1"}
	scheme.AddKnownTypes(version, &Team{}, &TeamList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}
