// SPDX-License-Identifier: Apache-2.0

package data

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Kind is a served resource.
type Kind struct {
	Name     string
	Resource schema.GroupVersionResource
	// BuiltIn objects are served from Go structs, without apiVersion and kind in lists; others from
	// maps, with sorted names.
	BuiltIn bool
}

// The served kinds.
var (
	Pods         = Kind{"Pod", corev1.SchemeGroupVersion.WithResource("pods"), true}
	Certificates = Kind{"Certificate", certificatesVersion.WithResource("certificates"), false}
	Routes       = Kind{"HTTPRoute", routesVersion.WithResource("httproutes"), false}
)

var routesVersion = schema.GroupVersion{Group: gatewayv1.GroupName, Version: "v1"}

// APIPath returns the path of the group.
func (k Kind) APIPath() string {
	if k.Resource.Group == "" {
		return "/api"
	}
	return "/apis"
}

// Path returns the path of the collection.
func (k Kind) Path() string {
	if k.Resource.Group == "" {
		return "/api/" + k.Resource.Version + "/" + k.Resource.Resource
	}
	return "/apis/" + k.Resource.Group + "/" + k.Resource.Version + "/" + k.Resource.Resource
}

// GVK returns the kind with group and version.
func (k Kind) GVK() schema.GroupVersionKind { return k.Resource.GroupVersion().WithKind(k.Name) }

// Scheme knows the Go types.
var Scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(kubernetes.AddToScheme(s))
	utilruntime.Must(gatewayv1.Install(s))
	s.AddKnownTypeWithName(Certificates.GVK(), &Certificate{})
	s.AddKnownTypeWithName(certificatesVersion.WithKind(Certificates.Name+"List"), &CertificateList{})
	metav1.AddToGroupVersion(s, certificatesVersion)
	return s
}()
