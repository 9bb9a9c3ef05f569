// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	corev1 "k8s.io/api/core/v1"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/selectors"
)

// Selects reports whether the Service selects the Pod.
func Selects(service *corev1.Service, pod *projections.PodEndpoint) bool {
	if !selectors.Managed(service) || service.Namespace != pod.Namespace {
		return false
	}
	for name, want := range service.Spec.Selector {
		if value, ok := pod.Labels[name]; !ok || value != want {
			return false
		}
	}
	return true
}
