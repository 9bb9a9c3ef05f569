// SPDX-License-Identifier: Apache-2.0

// Package v1 has the stored version of Database, the hub of its conversions.
//
// +kubebuilder:object:generate=true
// +groupName=db.example.com
// +versionName=v1
package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "db.example.com", Version: "v1"}

// Ready is the condition of a Database whose replicas are all ready. Its reasons are below.
const Ready = "Ready"

const (
	// ReasonAvailable means that all replicas are ready.
	ReasonAvailable = "Available"
	// ReasonProgressing means that some replicas aren't ready yet.
	ReasonProgressing = "Progressing"
	// ReasonFailed means that an object of the Database couldn't be written.
	ReasonFailed = "Failed"
)

// DatabaseSpec is the desired state of a Database.
type DatabaseSpec struct {
	// Version is the version of PostgreSQL. The default is the newest one; it can't be lowered.
	Version string `json:"version,omitempty"`
	// Replicas is the number of Pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Replicas int32 `json:"replicas,omitempty"`
	// Storage is the size of each replica's volume. The default is 1Gi; it can't be changed.
	Storage resource.Quantity `json:"storage,omitempty"`
	// Backup describes the backups. Without it there are none.
	Backup *Backup `json:"backup,omitempty"`
}

// Backup describes the backups of a Database.
type Backup struct {
	// Schedule is a CronJob's, as in "0 3 * * *".
	// +kubebuilder:validation:MinLength=1
	Schedule string `json:"schedule"`
}

// DatabaseStatus is the observed state of a Database.
type DatabaseStatus struct {
	// ObservedGeneration is the generation that this status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReadyReplicas is the number of ready Pods.
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Conditions has the condition Ready.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Database is a PostgreSQL server.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Version,type=string,JSONPath=.spec.version
// +kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=.spec.replicas
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec   `json:"spec,omitempty"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// Hub makes v1 the version that all others are converted to and from.
func (*Database) Hub() {}

// DatabaseList is a list of Databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Database `json:"items"`
}

// AddToScheme registers the kinds of this package in a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Database{}, &DatabaseList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
