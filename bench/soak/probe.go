// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed crd.yaml
var crdYAML []byte

var probes = schema.GroupVersionResource{Group: "soak.informer-gen.dev", Version: "v1", Resource: "probes"}

// Probe is what is written, listed and watched.
type Probe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ProbeSpec `json:"spec"`
}

// ProbeSpec says when the probe was written.
type ProbeSpec struct {
	// Sent is the time before the write was sent, in nanoseconds since 1970.
	Sent int64 `json:"sent,omitempty"`
	// Note is ballast.
	Note string `json:"note,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (p *Probe) DeepCopyObject() runtime.Object {
	clone := *p
	p.ObjectMeta.DeepCopyInto(&clone.ObjectMeta)
	return &clone
}

// gold is the label by which some informers select.
const (
	tierLabel = "tier"
	gold      = "gold"
	tin       = "tin"
)
