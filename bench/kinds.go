// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// kind is a resource that the server has.
type kind struct {
	name     string
	resource schema.GroupVersionResource
	// served from Go structs, without apiVersion and kind in lists; else from maps, with sorted
	// names
	builtIn bool
}

var (
	pods         = kind{"Pod", corev1.SchemeGroupVersion.WithResource("pods"), true}
	certificates = kind{"Certificate", certificatesVersion.WithResource("certificates"), false}
	routes       = kind{"HTTPRoute", routesVersion.WithResource("httproutes"), false}
)

// routesVersion is that of the Gateway API's HTTPRoute.
var routesVersion = schema.GroupVersion{Group: gatewayv1.GroupName, Version: "v1"}

// apiPath returns the path of the group.
func (k kind) apiPath() string {
	if k.resource.Group == "" {
		return "/api"
	}
	return "/apis"
}

// path returns the path of the collection.
func (k kind) path() string {
	if k.resource.Group == "" {
		return "/api/" + k.resource.Version + "/" + k.resource.Resource
	}
	return "/apis/" + k.resource.Group + "/" + k.resource.Version + "/" + k.resource.Resource
}

func (k kind) gvk() schema.GroupVersionKind { return k.resource.GroupVersion().WithKind(k.name) }

// scheme knows the Go types.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(gatewayv1.Install(s))
	s.AddKnownTypeWithName(certificates.gvk(), &certificate{})
	s.AddKnownTypeWithName(certificatesVersion.WithKind(certificates.name+"List"), &certificateList{})
	metav1.AddToGroupVersion(s, certificatesVersion)
	return s
}()
