// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

func TestSubsets(t *testing.T) {
	pods := func(all ...*projections.PodEndpoint) []*projections.PodEndpoint { return all }
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase = phase }
	}
	families := func(families ...corev1.IPFamily) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Spec.IPFamilies = families }
	}
	clusterIP := func(ip string) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Spec.ClusterIP = ip }
	}
	sidecar := func(policy *corev1.ContainerRestartPolicy) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{
				RestartPolicy: policy,
				Ports: []corev1.ContainerPort{
					{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
					{Name: "http", ContainerPort: 1, Protocol: corev1.ProtocolTCP},
				},
			}}
		}
	}
	metrics := tcp("metrics", 9090, intstr.FromString("metrics"))
	for name, test := range map[string]struct {
		service *corev1.Service
		pods    []*projections.PodEndpoint
		want    string
	}{
		"no Pods":                  {service(), nil, ""},
		"ready":                    {service(), pods(pod("10.0.0.2"), pod("10.0.0.1")), "10.0.0.1 10.0.0.2 -> http:8080/TCP"},
		"not ready":                {service(), pods(pod("10.0.0.1"), pod("10.0.0.2", isNotReady)), "10.0.0.1 not:10.0.0.2 -> http:8080/TCP"},
		"no condition":             {service(), pods(pod("10.0.0.1", func(p *corev1.Pod) { p.Status.Conditions = nil })), "not:10.0.0.1 -> http:8080/TCP"},
		"unknown condition":        {service(), pods(pod("10.0.0.1", readySince(corev1.ConditionUnknown, midnight))), "not:10.0.0.1 -> http:8080/TCP"},
		"not ready, published":     {service(publishNotReady), pods(pod("10.0.0.1", isNotReady)), "10.0.0.1 -> http:8080/TCP"},
		"terminating":              {service(), pods(pod("10.0.0.1", isDeleted), pod("10.0.0.2", isDeleted, isNotReady)), ""},
		"terminating, published":   {service(publishNotReady), pods(pod("10.0.0.1", isDeleted), pod("10.0.0.2", isDeleted, isNotReady)), "10.0.0.1 10.0.0.2 -> http:8080/TCP"},
		"no IP":                    {service(), pods(pod("")), ""},
		"failed":                   {service(publishNotReady), pods(pod("10.0.0.1", phase(corev1.PodFailed))), ""},
		"succeeded":                {service(publishNotReady), pods(pod("10.0.0.1", phase(corev1.PodSucceeded))), ""},
		"pending, with an IP":      {service(), pods(pod("10.0.0.1", phase(corev1.PodPending), isNotReady)), "not:10.0.0.1 -> http:8080/TCP"},
		"ended, not to come again": {service(), pods(pod("10.0.0.1", func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever })), "10.0.0.1 -> http:8080/TCP"},

		"IPv4 of both":               {service(), pods(pod("10.0.0.1", ips("fd00::1", "10.0.0.1"))), "10.0.0.1 -> http:8080/TCP"},
		"IPv6 of both":               {service(families(corev1.IPv6Protocol, corev1.IPv4Protocol)), pods(pod("10.0.0.1", ips("10.0.0.1", "fd00::1"))), "fd00::1 -> http:8080/TCP"},
		"the first of a family":      {service(), pods(pod("10.0.0.1", ips("10.0.0.7", "10.0.0.1"))), "10.0.0.7 -> http:8080/TCP"},
		"no IP of the family":        {service(families(corev1.IPv6Protocol)), pods(pod("10.0.0.1")), ""},
		"podIP without podIPs":       {service(), pods(pod("10.0.0.1", ips())), ""},
		"family of the clusterIP":    {service(families(), clusterIP("fd00::96")), pods(pod("10.0.0.1", ips("10.0.0.1", "fd00::1"))), "fd00::1 -> http:8080/TCP"},
		"family of podIP, headless":  {service(families(), headless), pods(pod("fd00::1", ips("10.0.0.1", "fd00::1"))), "fd00::1 -> http:8080/TCP"},
		"family of podIP, no IP yet": {service(families(), clusterIP("")), pods(pod("10.0.0.1")), "10.0.0.1 -> http:8080/TCP"},
		"an odd form of IPv4":        {service(), pods(pod("10.0.0.1", ips("010.000.0.001"))), "10.0.0.1 -> http:8080/TCP"},
		"an odd form of IPv6":        {service(families(corev1.IPv6Protocol)), pods(pod("fd00::1", ips("FD00:0::0:1"))), "fd00::1 -> http:8080/TCP"},
		"no IP at all":               {service(), pods(pod("10.0.0.1", ips("localhost", "10.0.0.1"))), "10.0.0.1 -> http:8080/TCP"},

		"Pods on the network of their node": {
			service(), pods(pod("10.0.0.1"), pod("10.0.0.1", func(p *corev1.Pod) { p.Name, p.UID, p.Spec.HostNetwork = "b", "b", true })),
			"10.0.0.1 10.0.0.1 -> http:8080/TCP",
		},

		"a number":         {service(withPorts(tcp("", 80, intstr.FromInt32(1234)))), pods(pod("10.0.0.1")), "10.0.0.1 -> :1234/TCP"},
		"no such port":     {service(withPorts(tcp("a", 80, intstr.FromString("gone")), tcp("b", 81, intstr.FromInt32(81)))), pods(pod("10.0.0.1")), "10.0.0.1 -> b:81/TCP"},
		"another protocol": {service(withPorts(tcp("dns", 53, intstr.FromString("dns")))), pods(pod("10.0.0.1")), ""},
		"UDP": {
			service(withPorts(corev1.ServicePort{Name: "dns", Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromString("dns")})),
			pods(pod("10.0.0.1")), "10.0.0.1 -> dns:53/UDP",
		},
		"one number, two protocols": {
			service(withPorts(tcp("a", 53, intstr.FromInt32(53)), corev1.ServicePort{Name: "b", Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt32(53)})),
			pods(pod("10.0.0.1")), "10.0.0.1 -> a:53/TCP b:53/UDP",
		},
		"a port of a sidecar": {
			service(withPorts(metrics, tcp("http", 80, intstr.FromString("http")))),
			pods(pod("10.0.0.1", sidecar(ptr.To(corev1.ContainerRestartPolicyAlways)))), "10.0.0.1 -> http:8080/TCP metrics:9090/TCP",
		},
		"a port of an init container that ends": {
			service(withPorts(metrics)), pods(pod("10.0.0.1", sidecar(nil)), pod("10.0.0.2", sidecar(ptr.To(corev1.ContainerRestartPolicyOnFailure)))), "",
		},
		"headless without ports":     {service(headless, withPorts()), pods(pod("10.0.0.2"), pod("10.0.0.1", isNotReady)), "10.0.0.2 not:10.0.0.1 ->"},
		"no ports, but not headless": {service(withPorts()), pods(pod("10.0.0.1")), ""},
		"headless with ports":        {service(headless), pods(pod("10.0.0.1")), "10.0.0.1 -> http:8080/TCP"},

		"a subset for each set of addresses": {
			service(withPorts(tcp("http", 80, intstr.FromString("http")), metrics, tcp("any", 82, intstr.FromInt32(82)))),
			pods(pod("10.0.0.1", sidecar(ptr.To(corev1.ContainerRestartPolicyAlways))), pod("10.0.0.2", isNotReady)),
			"10.0.0.1 -> metrics:9090/TCP; 10.0.0.1 not:10.0.0.2 -> any:82/TCP http:8080/TCP",
		},
		"one name, several numbers": {
			service(), pods(pod("10.0.0.1"), pod("10.0.0.2", func(p *corev1.Pod) { p.Spec.Containers[0].Ports[0].ContainerPort = 8081 })),
			"10.0.0.1 -> http:8080/TCP; 10.0.0.2 -> http:8081/TCP",
		},
		"addresses in the order of their text": {service(), pods(pod("10.0.0.9"), pod("10.0.0.10"), pod("9.0.0.1")), "10.0.0.10 10.0.0.9 9.0.0.1 -> http:8080/TCP"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(Subsets(test.service, test.pods)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAddressesAndPorts(t *testing.T) {
	s := service(withPorts(corev1.ServicePort{Name: "http", Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http"), AppProtocol: ptr.To("h2c")}))
	dnsName := func(hostname, subdomain string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Hostname, p.Spec.Subdomain = hostname, subdomain }
	}
	got := Subsets(s, []*projections.PodEndpoint{
		pod("10.0.0.1", dnsName("one", "web")), pod("10.0.0.2", dnsName("two", "other")), pod("10.0.0.3", func(p *corev1.Pod) { p.Spec.NodeName = "" }),
	})
	address := func(ip, name, node, hostname string) corev1.EndpointAddress {
		return corev1.EndpointAddress{
			IP: ip, NodeName: &node, Hostname: hostname,
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: name, UID: types.UID(name)},
		}
	}
	want := []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{
			address("10.0.0.1", "web-10-0-0-1", "node-1", "one"),
			address("10.0.0.2", "web-10-0-0-2", "node-1", ""),
			address("10.0.0.3", "web-10-0-0-3", "", ""),
		},
		Ports: []corev1.EndpointPort{{Name: "http", Port: 8080, Protocol: corev1.ProtocolTCP, AppProtocol: ptr.To("h2c")}},
	}}
	if !sameSubsets(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestLayoutIsCanonical: the layout doesn't depend on the order of Pods, and repacking keeps it.
func TestLayoutIsCanonical(t *testing.T) {
	s := service(withPorts(tcp("http", 80, intstr.FromString("http")), tcp("a", 81, intstr.FromInt32(81)), tcp("b", 82, intstr.FromInt32(82))))
	var pods []*projections.PodEndpoint
	for i := range 8 {
		p := pod(fmt.Sprintf("10.0.0.%d", i))
		p.Spec.Containers[0].Ports[0].ContainerPort += int32(i % 3)
		pods = append(pods, p)
	}
	want := Subsets(s, pods)
	for i := range pods {
		turned := append(append([]*projections.PodEndpoint{}, pods[i:]...), pods[:i]...)
		if got := Subsets(s, turned); !sameSubsets(got, want) {
			t.Errorf("Pods rotated by %d: got\n%+v\nwant\n%+v", i, got, want)
		}
	}
	var apart []corev1.EndpointSubset
	for _, subset := range want {
		for _, address := range subset.Addresses {
			for _, port := range subset.Ports {
				apart = append(apart, corev1.EndpointSubset{Addresses: []corev1.EndpointAddress{address}, Ports: []corev1.EndpointPort{port}})
			}
		}
	}
	if got := repack(apart); !sameSubsets(got, want) {
		t.Errorf("packed again: got\n%+v\nwant\n%+v", got, want)
	}
}

func TestRepack(t *testing.T) {
	address := func(ip string) corev1.EndpointAddress { return corev1.EndpointAddress{IP: ip} }
	http := []corev1.EndpointPort{{Name: "http", Port: 80, AppProtocol: ptr.To("h2c")}}
	again := []corev1.EndpointPort{{Name: "http", Port: 80, AppProtocol: ptr.To("h2c")}}
	for name, test := range map[string]struct {
		subsets []corev1.EndpointSubset
		want    string
	}{
		"not ready beats ready": {
			[]corev1.EndpointSubset{
				{NotReadyAddresses: []corev1.EndpointAddress{address("1")}, Ports: http},
				{Addresses: []corev1.EndpointAddress{address("1"), address("2")}, Ports: again},
			}, "2 not:1 -> http:80/",
		},
		"without ports":     {[]corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{address("1")}}}, "1 ->"},
		"without addresses": {[]corev1.EndpointSubset{{Ports: http}}, ""},
	} {
		if got := text(repack(test.subsets)); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}
