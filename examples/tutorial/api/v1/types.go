// SPDX-License-Identifier: Apache-2.0

// Package v1 has the kinds of this project.
//
// +kubebuilder:object:generate=true
// +groupName=tutorial.example.com
// +versionName=v1
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

//go:generate go tool controller-gen object paths=.
//go:generate go tool controller-gen crd paths=. output:crd:dir=../../config/crd

// TeamSpec is the desired state of a team.
type TeamSpec struct {
	// Members are the names of its members.
	// +listType=set
	Members []string `json:"members,omitempty"`
}

// TeamStatus is the observed state of a team.
type TeamStatus struct {
	// Desks is how many of the members have a desk.
	Desks int32 `json:"desks"`
}

// Team is a group of people, each of whom gets a desk: a ConfigMap.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Team struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TeamSpec   `json:"spec,omitempty"`
	Status TeamStatus `json:"status,omitempty"`
}
