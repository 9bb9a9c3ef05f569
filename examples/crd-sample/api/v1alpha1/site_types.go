// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SiteSpec describes a place.
type SiteSpec struct {
	// City is where the site is.
	// +kubebuilder:validation:MinLength=1
	City string `json:"city"`

	// Nodes are the names of the site's nodes. A node is at one site only.
	// +listType=set
	// +optional
	Nodes []string `json:"nodes,omitempty"`
}

// SiteStatus is the observed state of a place.
type SiteStatus struct {
	// Widgets counts the machines that are plugged into the site's nodes.
	// +optional
	Widgets int32 `json:"widgets,omitempty"`
}

// Site is a place with machines, such as a railway station. It belongs to no namespace, since
// machines of several shops may stand there.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=sites,scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=City,type=string,JSONPath=.spec.city
// +kubebuilder:printcolumn:name=Widgets,type=integer,JSONPath=.status.widgets
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of places.
//
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}
