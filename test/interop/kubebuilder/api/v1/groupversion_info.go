// SPDX-License-Identifier: Apache-2.0

// Package v1 is the API of a harbour: a Fleet owns Boats, and a Boat owns a ConfigMap, its log.
//
// +kubebuilder:object:generate=true
// +groupName=harbour.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object:headerFile=../../hack/boilerplate.go.txt crd paths=. output:crd:artifacts:config=../../config/crd/bases

var (
	// GroupVersion is the group and version of all kinds in this package.
	GroupVersion = schema.GroupVersion{Group: "harbour.example.com", Version: "v1"}

	// SchemeBuilder collects the functions behind AddToScheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package in a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Fleet{}, &FleetList{}, &Boat{}, &BoatList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// ConditionReady is the type of both kinds' condition.
const ConditionReady = "Ready"
