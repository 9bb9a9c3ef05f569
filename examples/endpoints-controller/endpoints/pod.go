// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	netutils "k8s.io/utils/net"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

// PodChanged reports whether an update from old to pod can change the Endpoints of any Service. Nil
// stands for a missing Pod. States with equal resourceVersions are the same.
func PodChanged(old, pod *projections.PodEndpoint) bool {
	if old == nil || pod == nil {
		return true
	}
	if old.ResourceVersion == pod.ResourceVersion {
		return false
	}
	return hasEnded(old) != hasEnded(pod) ||
		isTerminating(old) != isTerminating(pod) ||
		isReady(old) != isReady(pod) ||
		old.Spec.NodeName != pod.Spec.NodeName ||
		old.Spec.Hostname != pod.Spec.Hostname ||
		old.Spec.Subdomain != pod.Spec.Subdomain ||
		old.Status.PodIP != pod.Status.PodIP ||
		!slices.Equal(old.Status.PodIPs, pod.Status.PodIPs) ||
		!maps.Equal(old.Labels, pod.Labels)
}

func counts(service *corev1.Service, pod *projections.PodEndpoint) bool {
	switch {
	case hasEnded(pod):
		return false
	case pod.Status.PodIP == "" && len(pod.Status.PodIPs) == 0:
		return false
	default:
		return !isTerminating(pod) || service.Spec.PublishNotReadyAddresses
	}
}

func hasEnded(pod *projections.PodEndpoint) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func isTerminating(pod *projections.PodEndpoint) bool { return pod.DeletionTimestamp != nil }

func isReady(pod *projections.PodEndpoint) bool {
	condition := readyCondition(pod)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

// readyCondition returns nil if the Pod has none.
func readyCondition(pod *projections.PodEndpoint) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// addressOf returns the address at which a Pod serves a Service; false if the Pod has no IP of the
// Service's family. Only podIPs are searched: podIP alone, as written by API servers before dual
// stack, does not count.
func addressOf(service *corev1.Service, pod *projections.PodEndpoint) (address corev1.EndpointAddress, ok bool) {
	ip := firstOf(familyOf(service, pod), pod.Status.PodIPs)
	if ip == "" {
		return address, false
	}
	address = corev1.EndpointAddress{
		IP:        ip,
		NodeName:  &pod.Spec.NodeName,
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
	}
	if pod.Spec.Subdomain == service.Name { // the Pod has a DNS name below the Service's
		address.Hostname = pod.Spec.Hostname
	}
	return address, true
}

// familyOf returns the family of the Service's addresses. A Service that was never defaulted has
// none; it takes the family of its clusterIP or, without one, the Pod's.
func familyOf(service *corev1.Service, pod *projections.PodEndpoint) corev1.IPFamily {
	if families := service.Spec.IPFamilies; len(families) > 0 {
		return families[0]
	}
	ip := service.Spec.ClusterIP
	if !hasClusterIP(service) {
		ip = pod.Status.PodIP
	}
	if netutils.IsIPv6String(ip) {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// firstOf returns the first IP of a family in canonical form, without leading zeros, or "".
func firstOf(family corev1.IPFamily, ips []corev1.PodIP) string {
	for _, podIP := range ips {
		ip := netutils.ParseIPSloppy(podIP.IP)
		if ip != nil && netutils.IsIPv6(ip) == (family == corev1.IPv6Protocol) {
			return ip.String()
		}
	}
	return ""
}

func hasClusterIP(service *corev1.Service) bool {
	return service.Spec.ClusterIP != "" && service.Spec.ClusterIP != corev1.ClusterIPNone
}
