// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/store"
)

var (
	crates      = schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1", Resource: "crates"}
	laterCrates = schema.GroupVersionResource{Group: "later.example.com", Version: "v1", Resource: "crates"}
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// Crate is namespaced. Its CRD has spec.ship as a selectable field.
type Crate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              CrateSpec `json:"spec"`
}

// CrateSpec has a selectable field, a list and a number.
type CrateSpec struct {
	Ship   string   `json:"ship,omitempty"`
	Ports  []string `json:"ports,omitempty"`
	Weight int64    `json:"weight,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (c *Crate) DeepCopyObject() runtime.Object {
	clone := *c
	c.ObjectMeta.DeepCopyInto(&clone.ObjectMeta)
	clone.Spec.Ports = slices.Clone(c.Spec.Ports)
	return &clone
}

var byShip = store.NewIndex("ByShip", func(c *Crate, keys []string) []string { return append(keys, c.Spec.Ship) })
