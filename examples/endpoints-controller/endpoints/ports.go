// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

func portsOf(service *corev1.Service, pod *projections.PodEndpoint) (ports []corev1.EndpointPort) {
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		if number, ok := numberOf(port, pod); ok {
			ports = append(ports, corev1.EndpointPort{
				Name: port.Name, Port: number, Protocol: port.Protocol, AppProtocol: port.AppProtocol,
			})
		}
	}
	return ports
}

func numberOf(port *corev1.ServicePort, pod *projections.PodEndpoint) (number int32, ok bool) {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal, true
	}
	for i := range pod.Spec.Containers {
		if number, ok := namedPort(port, pod.Spec.Containers[i].Ports); ok {
			return number, true
		}
	}
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if policy := container.RestartPolicy; policy == nil || *policy != corev1.ContainerRestartPolicyAlways {
			continue // it ends before the Pod serves
		}
		if number, ok := namedPort(port, container.Ports); ok {
			return number, true
		}
	}
	return 0, false
}

func namedPort(port *corev1.ServicePort, ports []corev1.ContainerPort) (number int32, ok bool) {
	for _, p := range ports {
		if p.Name == port.TargetPort.StrVal && p.Protocol == port.Protocol {
			return p.ContainerPort, true
		}
	}
	return 0, false
}
