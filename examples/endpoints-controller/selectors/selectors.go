// SPDX-License-Identifier: Apache-2.0

// Package selectors makes the keys of an index from Pods to their Services. The generated listers
// call it.
package selectors

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// LabelPair is a label's name and value.
type LabelPair struct{ Name, Value string }

// Managed reports whether a Service gets its Endpoints from its selector. Users own the Endpoints
// of other Services.
func Managed(service *corev1.Service) bool {
	return service.Spec.Selector != nil && service.Spec.Type != corev1.ServiceTypeExternalName
}

// Pairs returns the key of a Service in an index for finding the Services of a Pod: one label of
// its selector, which each of its Pods must have. It picks the longest value, because the name of
// an application is longer, and rarer in a namespace, than "web" or "prod". An empty selector,
// which selects all Pods, has the zero key. Services that are not [Managed] have none.
//
//	Service  selector {app: checkout, tier: web} ─▶ app=checkout ─┐
//	                                                              ├▶ a candidate; Selects decides
//	Pod      labels {app: checkout, tier: web, …} ─▶ each of them ─┘
func Pairs(service *corev1.Service) []LabelPair {
	if !Managed(service) {
		return nil
	}
	var pair LabelPair
	for _, name := range slices.Sorted(maps.Keys(service.Spec.Selector)) {
		if value := service.Spec.Selector[name]; pair.Name == "" || len(value) > len(pair.Value) {
			pair = LabelPair{name, value}
		}
	}
	return []LabelPair{pair}
}

// OfPod returns all keys under which the Services of a Pod with these labels may be.
func OfPod(labels map[string]string) []LabelPair {
	pairs := make([]LabelPair, 1, 1+len(labels)) // the zero key
	for name, value := range labels {
		pairs = append(pairs, LabelPair{name, value})
	}
	return pairs
}
