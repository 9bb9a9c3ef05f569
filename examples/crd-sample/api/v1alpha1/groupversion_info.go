// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of a shop with vending machines at many sites. A Site is a place with
// nodes, small computers that machines are plugged into. A Widget is one machine, made of parts
// that each run an image.
//
// +kubebuilder:object:generate=true
// +groupName=samples.informer-gen.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:generate go tool controller-gen object:headerFile=../../hack/boilerplate.go.txt paths=.
//go:generate go tool controller-gen crd paths=. output:crd:artifacts:config=../../config/crd

var (
	// GroupVersion is the group and version of all kinds in this package.
	GroupVersion = schema.GroupVersion{Group: "samples.informer-gen.dev", Version: "v1alpha1"}

	// SchemeBuilder collects the functions behind AddToScheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package in a scheme. It fails only if the scheme has
	// others of the same name.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Widget{}, &WidgetList{},
		&Site{}, &SiteList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
