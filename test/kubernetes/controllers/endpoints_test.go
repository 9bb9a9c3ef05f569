// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// endpoints makes a Service before its Pods. Then the Service loses a Pod, gets another port, and
// is deleted.
func (s *scenario) endpoints() {
	s.createService()
	s.awaitEndpoints(0, 80)
	s.createPods("web-a", "web-b")
	s.awaitEndpoints(2, 80)
	s.record()
	s.ok(s.client.CoreV1().Pods(s.namespace).Patch(s.t.Context(), "web-a", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"other"}}}`), metav1.PatchOptions{}))
	s.awaitEndpoints(1, 80)
	s.record()
	s.patchService(`{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`)
	s.awaitEndpoints(1, 8080)
	s.record()
	s.deleteService()
	s.record()
}

// endpointSlices makes a Service of running Pods. Then a Pod ends, the Service selects other Pods,
// and it is deleted.
func (s *scenario) endpointSlices() {
	s.createPods("web-a", "web-b", "web-c")
	s.createService()
	s.awaitEndpoints(3, 80)
	s.record()
	s.ok(nil, s.client.CoreV1().Pods(s.namespace).Delete(s.t.Context(), "web-a", metav1.DeleteOptions{}))
	s.awaitGone("pods", "web-a")
	s.awaitEndpoints(2, 80)
	s.record()
	s.patchService(`{"spec":{"selector":{"pod":"web-b"}}}`)
	s.awaitEndpoints(1, 80)
	s.record()
	s.deleteService()
	s.record()
}

// createPods creates Pods with labels, and waits until they run.
func (s *scenario) createPods(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.ok(s.client.CoreV1().Pods(s.namespace).Create(s.t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web", "pod": name}},
			Spec:       template(nil, "web:1", corev1.RestartPolicyAlways).Spec,
		}, metav1.CreateOptions{}))
	}
	s.awaitPods(len(names))
}

func (s *scenario) createService() {
	s.t.Helper()
	s.ok(s.client.CoreV1().Services(s.namespace).Create(s.t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{}))
}

func (s *scenario) patchService(patch string) {
	s.t.Helper()
	s.ok(s.client.CoreV1().Services(s.namespace).Patch(s.t.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}))
}

// deleteService deletes the Service, and waits until neither form of its endpoints is left.
func (s *scenario) deleteService() {
	s.t.Helper()
	s.ok(nil, s.client.CoreV1().Services(s.namespace).Delete(s.t.Context(), "web", metav1.DeleteOptions{}))
	s.awaitGone("endpoints", "")
	s.awaitGone("endpointslices", "")
}

// awaitEndpoints waits until both forms of the endpoints have exactly this number of Pods at a
// port, all ready.
func (s *scenario) awaitEndpoints(pods int, port int32) {
	s.t.Helper()
	ctx := s.t.Context()
	s.poll(func() string {
		endpoints, err := s.client.CoreV1().Endpoints(s.namespace).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		addresses := 0
		for _, subset := range endpoints.Subsets {
			addresses += len(subset.Addresses)
			if len(subset.NotReadyAddresses) > 0 || len(subset.Ports) != 1 || subset.Ports[0].Port != port {
				return fmt.Sprintf("the Endpoints have the subset %v, want %d ready Pods at port %d", subset, pods, port)
			}
		}
		slices, err := s.client.DiscoveryV1().EndpointSlices(s.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		sliced := 0
		for _, slice := range slices.Items {
			sliced += len(slice.Endpoints)
			for _, endpoint := range slice.Endpoints {
				if !*endpoint.Conditions.Ready || *endpoint.Conditions.Terminating || len(slice.Ports) != 1 || *slice.Ports[0].Port != port {
					return fmt.Sprintf("an EndpointSlice has the endpoint %v at %v", endpoint, slice.Ports)
				}
			}
		}
		if addresses != pods || sliced != pods || len(slices.Items) != 1 {
			return fmt.Sprintf("%d addresses in Endpoints, %d in %d EndpointSlices, want %d", addresses, sliced, len(slices.Items), pods)
		}
		return ""
	})
}
