// SPDX-License-Identifier: Apache-2.0

package endpoints

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/selectors"
)

func selecting(selector map[string]string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Spec.Selector = selector }
}

func key(name, value string) []selectors.LabelPair {
	return []selectors.LabelPair{{Name: name, Value: value}}
}

// TestSelectedPodHasKeyOfService: the Service's one key finds every Pod it selects.
func TestSelectedPodHasKeyOfService(t *testing.T) {
	p := pod("10.0.0.1", func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "checkout", "tier": "web", "empty": ""}
	})
	for name, test := range map[string]struct {
		service *corev1.Service
		key     []selectors.LabelPair
		selects bool
	}{
		"one label":            {service(selecting(map[string]string{"tier": "web"})), key("tier", "web"), true},
		"the longest value":    {service(selecting(map[string]string{"tier": "web", "app": "checkout"})), key("app", "checkout"), true},
		"the first of equals":  {service(selecting(map[string]string{"tier": "web", "app": "pay"})), key("app", "pay"), false},
		"an empty value":       {service(selecting(map[string]string{"empty": ""})), key("empty", ""), true},
		"an absent label":      {service(selecting(map[string]string{"absent": ""})), key("absent", ""), false},
		"half of it":           {service(selecting(map[string]string{"app": "checkout", "zone": "a"})), key("app", "checkout"), false},
		"all":                  {service(selecting(map[string]string{})), key("", ""), true},
		"no selector":          {service(selecting(nil)), nil, false},
		"a name elsewhere":     {service(selecting(map[string]string{"tier": "web"}), func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeExternalName }), nil, false},
		"in another namespace": {service(selecting(map[string]string{"tier": "web"}), func(s *corev1.Service) { s.Namespace = "other" }), key("tier", "web"), false},
	} {
		if got := selectors.Pairs(test.service); !slices.Equal(got, test.key) {
			t.Errorf("%s: the Service has the key %v, want %v", name, got, test.key)
		}
		if got := Selects(test.service, p); got != test.selects {
			t.Errorf("%s: Selects() = %v", name, got)
		}
		if test.selects && !slices.Contains(selectors.OfPod(p.Labels), test.key[0]) {
			t.Errorf("%s: the Pod's keys %v lack %v", name, selectors.OfPod(p.Labels), test.key)
		}
	}
}

func TestPodChanged(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"an annotation":     {func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }, false},
		"another condition": {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, false},
		"running":           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, false},
		"ended":             {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"deleted":           {isDeleted, true},
		"not ready":         {isNotReady, true},
		"a label":           {func(p *corev1.Pod) { p.Labels = nil }, true},
		"a node":            {func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }, true},
		"a hostname":        {func(p *corev1.Pod) { p.Spec.Hostname = "one" }, true},
		"a subdomain":       {func(p *corev1.Pod) { p.Spec.Subdomain = "web" }, true},
		"an IP":             {ips("10.0.0.2"), true},
		"the order of IPs":  {ips("10.0.0.2", "10.0.0.1"), true},
		"podIP":             {func(p *corev1.Pod) { p.Status.PodIP = "fd00::1" }, true},
	} {
		next := func(p *corev1.Pod) { p.ResourceVersion = "2" }
		if got := PodChanged(pod("10.0.0.1"), pod("10.0.0.1", test.change, next)); got != test.want {
			t.Errorf("%s: PodChanged() = %v", name, got)
		}
	}
	deleted := func(since metav1.Time) *projections.PodEndpoint {
		return pod("10.0.0.1", isDeleted, func(p *corev1.Pod) { p.ResourceVersion = since.String() })
	}
	if PodChanged(deleted(metav1.Time{}), deleted(metav1.Now())) {
		t.Error("PodChanged() = true for a terminating Pod that is still terminating")
	}
	same := pod("10.0.0.1", isNotReady)
	if PodChanged(pod("10.0.0.1"), same) {
		t.Error("PodChanged() = true for a resync")
	}
	if !PodChanged(nil, same) || !PodChanged(same, nil) {
		t.Error("PodChanged() = false for an addition or a deletion")
	}
}
