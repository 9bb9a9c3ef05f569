// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Tier says how much a machine is worth to the shop, and so in which order broken ones are
// repaired.
//
// +kubebuilder:validation:Enum=bronze;silver;gold
type Tier string

const (
	// Bronze machines wait until a technician passes by.
	Bronze Tier = "bronze"
	// Silver machines are repaired on the next working day.
	Silver Tier = "silver"
	// Gold machines are repaired at once.
	Gold Tier = "gold"
)

// WidgetSpec is the desired state of a machine.
type WidgetSpec struct {
	// NodeName is the node that the machine is plugged into. Empty means that it is still in the
	// van.
	// +optional
	NodeName string `json:"nodeName,omitempty"`

	// Tier is bronze, silver or gold.
	// +kubebuilder:default=bronze
	// +optional
	Tier Tier `json:"tier,omitempty"`

	// Parts are the machine's computers, each named once.
	// +listType=map
	// +listMapKey=name
	// +optional
	Parts []Part `json:"parts,omitempty"`
}

// Part is one computer in a machine, such as its display or its card reader.
type Part struct {
	// Name is unique in the machine.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Image is the software that the part runs, such as display:1.4.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
}

// Phase is a machine's life in one word.
//
// +kubebuilder:validation:Enum=Pending;Running;Broken
type Phase string

const (
	// Pending machines have never run.
	Pending Phase = "Pending"
	// Running machines sell.
	Running Phase = "Running"
	// Broken machines have a part that doesn't run.
	Broken Phase = "Broken"
)

// WidgetStatus is the observed state of a machine.
type WidgetStatus struct {
	// Phase is empty until the machine has been seen.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// RunningParts counts the parts that run.
	// +optional
	RunningParts int32 `json:"runningParts,omitempty"`

	// Conditions say more than the phase.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Widget is a vending machine.
//
// +genclient
// +informer:index:name=ByNode,field=.spec.nodeName
// +informer:index:name=ByImage,field=.spec.parts[*].image
// +informer:index:name=ByManager,field=.metadata.labels['app.kubernetes.io/managed-by']
// +informer:index:name=ByNodeAndTier,field=.spec.nodeName;.spec.tier
// +informer:index:name=BrokenByNode,field=.spec.nodeName,when=.status.phase==Broken
// +informer:index:name=ByTier,field=.spec.tier,namespaced=true
// +informer:index:name=BySite,owner=Site.samples.informer-gen.dev
// +informer:index:name=ByOwner,func=OwnerUIDs
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=.spec.nodeName
// +kubebuilder:printcolumn:name=Node,type=string,JSONPath=.spec.nodeName
// +kubebuilder:printcolumn:name=Tier,type=string,JSONPath=.spec.tier
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=.status.phase
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec   `json:"spec,omitempty"`
	Status WidgetStatus `json:"status,omitempty"`
}

// WidgetList is a list of machines.
//
// +kubebuilder:object:root=true
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}

// OwnerUIDs returns the UIDs of all owners of w, in the order of its owner references: the keys of
// the index ByOwner.
func OwnerUIDs(w *Widget) []types.UID {
	uids := make([]types.UID, len(w.OwnerReferences))
	for i, owner := range w.OwnerReferences {
		uids[i] = owner.UID
	}
	return uids
}
