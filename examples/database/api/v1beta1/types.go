// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has the old version of Database.
//
// +kubebuilder:object:generate=true
// +groupName=db.example.com
// +versionName=v1beta1
package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
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
	// BackupSchedule is a CronJob's, as in "0 3 * * *". Without it there are no backups.
	BackupSchedule string `json:"backupSchedule,omitempty"`
}

// Database is a PostgreSQL server.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec      `json:"spec,omitempty"`
	Status v1.DatabaseStatus `json:"status,omitempty"`
}

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
	version := schema.GroupVersion{Group: "db.example.com", Version: "v1beta1"}
	scheme.AddKnownTypes(version, &Database{}, &DatabaseList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}
