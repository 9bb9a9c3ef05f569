// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

const (
	// managedBy is the label of Endpoints made from a selector. Kubernetes makes no EndpointSlices
	// from these, because it has its own from the same Pods.
	managedBy      = "endpoints.kubernetes.io/managed-by"
	managedByValue = "endpoint-controller"
	truncated      = "truncated" // the value of the annotation corev1.EndpointsOverCapacity
)

// Desired returns a Service's Endpoints, given the Pods that it selects, and whether they must be
// written. current is the existing object, or nil; annotations set on it by others stay. trigger is
// the result of [TriggerTimes.Observe].
//
// The label corev1.IsHeadlessService, and the annotation with the trigger time, are written along
// with other changes, but are no reason to write.
func Desired(service *corev1.Service, pods []*projections.PodEndpoint, current *corev1.Endpoints, trigger time.Time) (desired *corev1.Endpoints, write bool) {
	subsets := Subsets(service, pods)
	over := truncate(subsets)
	labels := labelsOf(service)
	if current != nil && isUpToDate(current, subsets, labels, over) {
		return current, false
	}
	if current == nil {
		desired = &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name}}
	} else {
		desired = current.DeepCopy()
	}
	desired.Subsets, desired.Labels = subsets, labels
	annotate(desired, corev1.EndpointsLastChangeTriggerTime, trigger.UTC().Format(time.RFC3339Nano), !trigger.IsZero())
	annotate(desired, corev1.EndpointsOverCapacity, truncated, over)
	return desired, true
}

// isUpToDate reports whether there is nothing to write. The layout of subsets doesn't matter.
func isUpToDate(current *corev1.Endpoints, subsets []corev1.EndpointSubset, labels map[string]string, over bool) bool {
	if got, ok := current.Annotations[corev1.EndpointsOverCapacity]; ok != over || over && got != truncated {
		return false
	}
	headless := func(name, _ string) bool { return name == corev1.IsHeadlessService }
	got, want := maps.Clone(current.Labels), maps.Clone(labels)
	maps.DeleteFunc(got, headless)
	maps.DeleteFunc(want, headless)
	if !maps.Equal(got, want) {
		return false
	}
	return sameSubsets(current.Subsets, subsets) || sameSubsets(repack(current.Subsets), subsets)
}

// sameSubsets compares subsets without the resourceVersions of Pods, which older controllers wrote.
func sameSubsets(a, b []corev1.EndpointSubset) bool { return ignoringVersions.DeepEqual(a, b) }

var ignoringVersions = conversion.EqualitiesOrDie(func(a, b corev1.ObjectReference) bool {
	a.ResourceVersion, b.ResourceVersion = "", ""
	return a == b
})

func labelsOf(service *corev1.Service) map[string]string {
	labels := maps.Clone(service.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[managedBy] = managedByValue
	delete(labels, corev1.IsHeadlessService)
	if !hasClusterIP(service) {
		labels[corev1.IsHeadlessService] = ""
	}
	return labels
}

func annotate(e *corev1.Endpoints, name, value string, set bool) {
	if !set {
		delete(e.Annotations, name)
		return
	}
	if e.Annotations == nil {
		e.Annotations = map[string]string{}
	}
	e.Annotations[name] = value
}
