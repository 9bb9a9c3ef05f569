// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
)

func TestDesiredMetadata(t *testing.T) {
	labels := func(labels map[string]string) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Labels = labels }
	}
	current := func(change ...func(*corev1.Endpoints)) *corev1.Endpoints {
		e, _ := Desired(service(), nil, nil, midnight)
		for _, f := range change {
			f(e)
		}
		return e
	}
	label := func(name, value string) func(*corev1.Endpoints) {
		return func(e *corev1.Endpoints) { e.Labels[name] = value }
	}
	annotation := func(name, value string) func(*corev1.Endpoints) {
		return func(e *corev1.Endpoints) { e.Annotations[name] = value }
	}
	const managed, ofHeadless = "endpoints.kubernetes.io/managed-by:endpoint-controller", "service.kubernetes.io/headless:"
	const atMidnight = "endpoints.kubernetes.io/last-change-trigger-time:2026-03-01T00:00:00Z"
	for name, test := range map[string]struct {
		service     *corev1.Service
		current     *corev1.Endpoints
		trigger     time.Time
		labels      string
		annotations string
		write       bool
	}{
		"new":                       {service(), nil, midnight, managed, atMidnight, true},
		"new, without a time":       {service(), nil, time.Time{}, managed, "", true},
		"in another time zone":      {service(), nil, midnight.In(time.FixedZone("", 3600)).Add(time.Millisecond), managed, "endpoints.kubernetes.io/last-change-trigger-time:2026-03-01T00:00:00.001Z", true},
		"labels of the Service":     {service(labels(map[string]string{"a": "b"})), nil, midnight, "a:b " + managed, atMidnight, true},
		"headless":                  {service(headless), nil, midnight, managed + " " + ofHeadless, atMidnight, true},
		"no clusterIP yet":          {service(func(s *corev1.Service) { s.Spec.ClusterIP = "" }), nil, midnight, managed + " " + ofHeadless, atMidnight, true},
		"a Service called headless": {service(labels(map[string]string{corev1.IsHeadlessService: "x"})), nil, midnight, managed, atMidnight, true},
		"managed by another":        {service(labels(map[string]string{managedBy: "x"})), nil, midnight, managed, atMidnight, true},

		"as it is":                     {service(), current(), midnight.Add(time.Hour), managed, atMidnight, false},
		"a label too many":             {service(), current(label("a", "b")), time.Time{}, managed, "", true},
		"a label too few":              {service(labels(map[string]string{"a": "b"})), current(), midnight, "a:b " + managed, atMidnight, true},
		"another label":                {service(labels(map[string]string{"a": "b"})), current(label("a", "c")), midnight, "a:b " + managed, atMidnight, true},
		"managed by no one":            {service(), current(func(e *corev1.Endpoints) { e.Labels = nil }), midnight, managed, atMidnight, true},
		"headless alone":               {service(headless), current(), midnight, managed, atMidnight, false},
		"headless no more, alone":      {service(), current(label(corev1.IsHeadlessService, "")), midnight, managed + " " + ofHeadless, atMidnight, false},
		"an annotation of others":      {service(), current(annotation("a", "b")), midnight, managed, "a:b " + atMidnight, false},
		"it stays":                     {service(), current(annotation("a", "b"), label("a", "b")), midnight, managed, "a:b " + atMidnight, true},
		"over capacity, but no longer": {service(), current(annotation(corev1.EndpointsOverCapacity, "truncated")), midnight, managed, atMidnight, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.current.DeepCopy()
			got, write := Desired(test.service, nil, test.current, test.trigger)
			if write != test.write {
				t.Errorf("write = %v", write)
			}
			if got.Namespace != "shop" || got.Name != "web" {
				t.Errorf("Desired returned %s/%s", got.Namespace, got.Name)
			}
			wantMap(t, "labels", got.Labels, test.labels)
			wantMap(t, "annotations", got.Annotations, test.annotations)
			if before != nil && (!maps.Equal(before.Labels, test.current.Labels) || !maps.Equal(before.Annotations, test.current.Annotations)) {
				t.Error("Desired changed its argument")
			}
		})
	}
}

func wantMap(t *testing.T, what string, got map[string]string, want string) {
	t.Helper()
	if text := fmt.Sprint(got); text != "map["+want+"]" {
		t.Errorf("%s are %s, want map[%s]", what, text, want)
	}
}

// TestDesiredLeavesEqualSubsetsAlone: subsets that differ only in their layout, or in fields of
// older controllers, are not written.
func TestDesiredLeavesEqualSubsetsAlone(t *testing.T) {
	s := service(withPorts(tcp("http", 80, intstr.FromString("http")), tcp("any", 81, intstr.FromInt32(81))))
	pods := []*projections.PodEndpoint{pod("10.0.0.1"), pod("10.0.0.2", isNotReady)}
	right, _ := Desired(s, pods, nil, midnight)
	for name, test := range map[string]struct {
		change func([]corev1.EndpointSubset) []corev1.EndpointSubset
		write  bool
	}{
		"the same": {func(s []corev1.EndpointSubset) []corev1.EndpointSubset { return s }, false},
		"the versions of Pods": {func(s []corev1.EndpointSubset) []corev1.EndpointSubset {
			s[0].Addresses[0].TargetRef.ResourceVersion = "7"
			return s
		}, false},
		"a subset for each port": {func(s []corev1.EndpointSubset) []corev1.EndpointSubset {
			other := *s[0].DeepCopy()
			s[0].Ports, other.Ports = s[0].Ports[:1], other.Ports[1:]
			return append(s, other)
		}, false},
		"no port":    {func(s []corev1.EndpointSubset) []corev1.EndpointSubset { s[0].Ports = s[0].Ports[1:]; return s }, true},
		"no address": {func(s []corev1.EndpointSubset) []corev1.EndpointSubset { s[0].Addresses = nil; return s }, true},
		"nothing":    {func([]corev1.EndpointSubset) []corev1.EndpointSubset { return nil }, true},
	} {
		current := right.DeepCopy()
		current.Subsets = test.change(current.Subsets)
		got, write := Desired(s, pods, current, midnight)
		if write != test.write {
			t.Errorf("%s: write = %v", name, write)
		}
		if write && !sameSubsets(got.Subsets, right.Subsets) {
			t.Errorf("%s: got %s", name, text(got.Subsets))
		}
	}
}

func TestTruncation(t *testing.T) {
	// Two subsets: the port named http has two numbers.
	two := func(ready1, notReady1, ready2, notReady2 int) (pods []*projections.PodEndpoint) {
		for port, n := range []int{ready1, notReady1, ready2, notReady2} {
			for i := range n {
				pods = append(pods, pod(fmt.Sprintf("10.%d.%d.%d", port, i/250, i%250), func(p *corev1.Pod) {
					p.Spec.Containers[0].Ports[0].ContainerPort = int32(8080 + port/2)
					if port%2 == 1 {
						isNotReady(p)
					}
				}))
			}
		}
		return pods
	}
	for name, test := range map[string]struct {
		pods []*projections.PodEndpoint
		over bool
		want [2][2]int // by port: ready, not ready
	}{
		"as many as fit":           {two(500, 200, 200, 100), false, [2][2]int{{500, 200}, {200, 100}}},
		"one more":                 {two(500, 201, 200, 100), true, [2][2]int{{500, 201}, {200, 99}}},
		"ready ones go first":      {two(600, 300, 200, 100), true, [2][2]int{{600, 150}, {200, 50}}},
		"ready ones fill it":       {two(700, 50, 300, 50), true, [2][2]int{{700, 0}, {300, 0}}},
		"too many ready ones":      {two(1500, 50, 500, 50), true, [2][2]int{{750, 0}, {250, 0}}},
		"one subset of ready ones": {two(1234, 0, 0, 0), true, [2][2]int{{1000, 0}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := Desired(service(), test.pods, nil, midnight)
			if truncated := got.Annotations[corev1.EndpointsOverCapacity] == "truncated"; truncated != test.over {
				t.Errorf("truncated = %v", truncated)
			}
			var lens [2][2]int
			sum := 0
			for _, s := range got.Subsets {
				lens[s.Ports[0].Port-8080] = [2]int{len(s.Addresses), len(s.NotReadyAddresses)}
				sum += len(s.Addresses) + len(s.NotReadyAddresses)
			}
			// A hash decides which subset gets the odd address.
			for port := range lens {
				for i := range lens[port] {
					if d := lens[port][i] - test.want[port][i]; d < -1 || d > 1 {
						t.Errorf("ready and unready addresses are %v, want %v", lens, test.want)
					}
				}
			}
			if sum > capacity {
				t.Errorf("%d addresses, want at most %d", sum, capacity)
			}
			if _, write := Desired(service(), test.pods, got, midnight); write {
				t.Error("Desired writes its own result again")
			}
		})
	}
}
