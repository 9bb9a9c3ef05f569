// SPDX-License-Identifier: Apache-2.0

// Package placement has a projection of Pods, as written by the generator. Only tests use it.
package placement

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// PodPlacement is a Pod with only the fields .metadata.labels, .spec.nodeName, .status.phase and
// .status.podIP.
type PodPlacement struct {
	metav1.TypeMeta  `json:",inline"`
	PodPlacementMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	Spec             PodPlacementSpec   `json:"spec" protobuf:"bytes,2,opt,name=spec"`
	Status           PodPlacementStatus `json:"status" protobuf:"bytes,3,opt,name=status"`
}

// PodPlacementMeta is the metadata of a PodPlacement.
type PodPlacementMeta struct {
	object.NoMeta
	Name            string            `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	Namespace       string            `json:"namespace,omitempty" protobuf:"bytes,3,opt,name=namespace"`
	UID             types.UID         `json:"uid,omitempty" protobuf:"bytes,5,opt,name=uid,casttype=k8s.io/kubernetes/pkg/types.UID"`
	ResourceVersion string            `json:"resourceVersion,omitempty" protobuf:"bytes,6,opt,name=resourceVersion"`
	Labels          map[string]string `json:"labels,omitempty" protobuf:"bytes,11,rep,name=labels"`
}

// PodPlacementSpec is the spec of a PodPlacement.
type PodPlacementSpec struct {
	NodeName string `json:"nodeName,omitempty" protobuf:"bytes,10,opt,name=nodeName"`
}

// PodPlacementStatus is the status of a PodPlacement.
type PodPlacementStatus struct {
	Phase corev1.PodPhase `json:"phase,omitempty" protobuf:"bytes,1,opt,name=phase,casttype=PodPhase"`
	PodIP string          `json:"podIP,omitempty" protobuf:"bytes,6,opt,name=podIP"`
}

var _ object.Object = (*PodPlacement)(nil)

// Of returns the projection of a Pod.
func Of(pod *corev1.Pod) *PodPlacement {
	return &PodPlacement{
		TypeMeta: pod.TypeMeta,
		PodPlacementMeta: PodPlacementMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Labels: pod.Labels,
		},
		Spec:   PodPlacementSpec{NodeName: pod.Spec.NodeName},
		Status: PodPlacementStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP},
	}
}

// DeepCopy returns a copy that shares nothing with p.
func (p *PodPlacement) DeepCopy() *PodPlacement {
	next := *p
	next.Labels = maps.Clone(p.Labels)
	return &next
}

// DeepCopyObject implements runtime.Object.
func (p *PodPlacement) DeepCopyObject() runtime.Object { return p.DeepCopy() }

// GetName returns the name.
func (m *PodPlacementMeta) GetName() string { return m.Name }

// SetName sets the name.
func (m *PodPlacementMeta) SetName(name string) { m.Name = name }

// GetNamespace returns the namespace.
func (m *PodPlacementMeta) GetNamespace() string { return m.Namespace }

// SetNamespace sets the namespace.
func (m *PodPlacementMeta) SetNamespace(namespace string) { m.Namespace = namespace }

// GetUID returns the UID.
func (m *PodPlacementMeta) GetUID() types.UID { return m.UID }

// SetUID sets the UID.
func (m *PodPlacementMeta) SetUID(uid types.UID) { m.UID = uid }

// GetResourceVersion returns the version.
func (m *PodPlacementMeta) GetResourceVersion() string { return m.ResourceVersion }

// SetResourceVersion sets the version.
func (m *PodPlacementMeta) SetResourceVersion(version string) { m.ResourceVersion = version }

// GetLabels returns the labels.
func (m *PodPlacementMeta) GetLabels() map[string]string { return m.Labels }

// SetLabels sets the labels.
func (m *PodPlacementMeta) SetLabels(labels map[string]string) { m.Labels = labels }
