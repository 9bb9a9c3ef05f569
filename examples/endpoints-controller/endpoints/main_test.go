// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// midnight is the creation time of all objects in these tests.
var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// service returns a Service of the Pods with app=web: port 80 leads to their port "http".
func service(change ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", CreationTimestamp: metav1.NewTime(midnight)},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1", IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Selector: map[string]string{"app": "web"},
			Ports:    []corev1.ServicePort{tcp("http", 80, intstr.FromString("http"))},
		},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

func tcp(name string, port int32, target intstr.IntOrString) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Protocol: corev1.ProtocolTCP, Port: port, TargetPort: target}
}

// pod returns a ready Pod at an IP, with the name and UID made of the IP.
func pod(ip string, change ...func(*corev1.Pod)) *projections.PodEndpoint {
	name := "web-" + strings.NewReplacer(".", "-", ":", "-").Replace(ip)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), ResourceVersion: "1", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			NodeName: "node-1",
			Containers: []corev1.Container{
				{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}},
				{Ports: []corev1.ContainerPort{{Name: "dns", ContainerPort: 53, Protocol: corev1.ProtocolUDP}, {Name: "http", ContainerPort: 9999, Protocol: corev1.ProtocolTCP}}},
			},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}},
	}
	if ip == "" {
		p.Status.PodIPs = nil
	}
	readySince(corev1.ConditionTrue, midnight)(p)
	for _, f := range change {
		f(p)
	}
	return projections.NewPodEndpoint(p)
}

func readySince(status corev1.ConditionStatus, since time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(since)},
		}
	}
}

var isNotReady = readySince(corev1.ConditionFalse, midnight)

func isDeleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: midnight} }

func ips(all ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.PodIPs = nil
		for _, ip := range all {
			p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: ip})
		}
	}
}

func publishNotReady(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true }

func headless(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone }

func withPorts(ports ...corev1.ServicePort) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Spec.Ports = ports }
}

// text returns subsets, sorted, in the form "10.0.0.1 not:10.0.0.2 -> http:8080/TCP", with
// semicolons between them.
func text(subsets []corev1.EndpointSubset) string {
	var all []string
	for _, s := range subsets {
		var words []string
		for _, a := range s.Addresses {
			words = append(words, a.IP)
		}
		for _, a := range s.NotReadyAddresses {
			words = append(words, "not:"+a.IP)
		}
		words = append(words, "->")
		var ports []string
		for _, p := range s.Ports {
			ports = append(ports, fmt.Sprintf("%s:%d/%s", p.Name, p.Port, p.Protocol))
		}
		slices.Sort(ports)
		all = append(all, strings.Join(append(words, ports...), " "))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
