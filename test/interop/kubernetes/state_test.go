// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resources are those that the controllers write.
var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "endpoints"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
}

// list returns the objects of a resource in the namespace of the scenario.
func (s *scenario) list(resource string) []unstructured.Unstructured {
	s.t.Helper()
	at := slices.IndexFunc(resources, func(r schema.GroupVersionResource) bool { return r.Resource == resource })
	list, err := s.all.Resource(resources[at]).Namespace(shop).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

// state returns all objects that the controllers have written, as JSON, once nothing has changed
// for a second.
func (s *scenario) state() (state []string) {
	s.t.Helper()
	s.until(func() string {
		before := s.objects()
		time.Sleep(time.Second)
		if state = s.objects(); !slices.Equal(state, before) {
			return "the controllers don't come to rest"
		}
		return ""
	})
	return state
}

func (s *scenario) objects() (lines []string) {
	s.t.Helper()
	for _, resource := range resources {
		for _, obj := range s.list(resource.Resource) {
			prune(obj.Object)
			text, err := json.Marshal(obj.Object)
			if err != nil {
				s.t.Fatal(err)
			}
			lines = append(lines, random.ReplaceAllString(string(text), "$1-*"))
		}
	}
	slices.Sort(lines)
	return lines
}

// random matches names that end in five random letters.
var random = regexp.MustCompile(`\b(web-[a-z0-9]{8,10}|web|pi)-[a-z0-9]{5}\b`)

// pruned are fields and labels that differ from run to run.
var pruned = []string{
	"uid", "controller-uid", "batch.kubernetes.io/controller-uid", "resourceVersion", "managedFields", "generation", "observedGeneration",
	"creationTimestamp", "lastTransitionTime", "lastUpdateTime", "lastProbeTime", "startTime", "completionTime",
	"endpoints.kubernetes.io/last-change-trigger-time", "ip", "podIP", "podIPs",
}

func prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range pruned {
			delete(v, name)
		}
		if addresses, ok := v["addresses"].([]any); ok && len(addresses) > 0 {
			if _, ip := addresses[0].(string); ip {
				v["addresses"] = len(addresses)
			}
		}
		if conditions, ok := v["conditions"].([]any); ok {
			slices.SortFunc(conditions, func(a, b any) int { return strings.Compare(typeOf(a), typeOf(b)) })
		}
		for _, child := range v {
			prune(child)
		}
	case []any:
		for _, child := range v {
			prune(child)
		}
	}
}

func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	return fmt.Sprint(fields["type"])
}
