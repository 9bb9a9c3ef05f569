// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/generator/fields"
)

// expected is what a reader of a controller's code names, who was not shown what is found.
type expected struct {
	// reads are the fields that the code reads, without those that each object has; of a map, the
	// map.
	reads string
	// whole are what it uses at once, and how, once each.
	whole string
}

// Foos are written back with their status. Deployments are looked up by their owner and compared;
// those that are written are made anew.
func TestSampleController(t *testing.T) {
	compare(t, "k8s.io/sample-controller", map[string]expected{
		"Foo": {
			reads: ".spec.deploymentName .spec.replicas",
			whole: "the object written back",
		},
		"Deployment": {
			reads: `.metadata.ownerReferences[*].blockOwnerDeletion .metadata.ownerReferences[*].controller
				.metadata.ownerReferences[*].kind .metadata.ownerReferences[*].name .metadata.ownerReferences[*].uid
				.spec.replicas .status.availableReplicas`,
		},
	})
}

// Handlers print an object that has no key; the others follow from Endpoints that are made of
// Services and Pods, by helpers in three other modules and packages.
func TestKubernetesEndpointsController(t *testing.T) {
	compare(t, "k8s.io/kubernetes/pkg/controller/endpoint", map[string]expected{
		"Pod": {
			reads: `.metadata.deletionTimestamp .metadata.labels
				.spec.containers[*].ports[*].containerPort .spec.containers[*].ports[*].name .spec.containers[*].ports[*].protocol
				.spec.hostname
				.spec.initContainers[*].ports[*].containerPort .spec.initContainers[*].ports[*].name .spec.initContainers[*].ports[*].protocol
				.spec.initContainers[*].restartPolicy .spec.nodeName .spec.subdomain
				.status.conditions[*].lastTransitionTime .status.conditions[*].status .status.conditions[*].type
				.status.phase .status.podIP .status.podIPs[*].ip`,
			whole: "the object not followed",
		},
		"Service": {
			reads: `.metadata.creationTimestamp .metadata.labels
				.spec.clusterIP .spec.ipFamilies .spec.ports[*].appProtocol .spec.ports[*].name
				.spec.ports[*].protocol .spec.ports[*].targetPort .spec.publishNotReadyAddresses .spec.selector .spec.type`,
			whole: "the object not followed",
		},
		"Endpoints": {
			reads: `.metadata.annotations .metadata.labels
				.subsets[*].addresses[*].ip .subsets[*].addresses[*].targetRef.uid
				.subsets[*].notReadyAddresses[*].ip .subsets[*].notReadyAddresses[*].targetRef.uid .subsets[*].ports[*].port`,
			whole: `the object not followed, the object written back, .subsets whole,
				.subsets[*] whole, .subsets[*].addresses whole, .subsets[*].addresses[*] not followed, .subsets[*].addresses[*] whole,
				.subsets[*].notReadyAddresses whole, .subsets[*].notReadyAddresses[*] not followed, .subsets[*].notReadyAddresses[*] whole,
				.subsets[*].ports[*] whole`,
		},
	})
}

// The same controller, written anew on generated informers of this project.
func TestEndpointsControllerOfTheExamples(t *testing.T) {
	compare(t, "github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler", map[string]expected{
		"PodEndpoint": {
			reads: `.metadata.deletionTimestamp .metadata.labels
				.spec.containers[*].ports[*].containerPort .spec.containers[*].ports[*].name .spec.containers[*].ports[*].protocol
				.spec.hostname
				.spec.initContainers[*].ports[*].containerPort .spec.initContainers[*].ports[*].name .spec.initContainers[*].ports[*].protocol
				.spec.initContainers[*].restartPolicy .spec.nodeName .spec.subdomain
				.status.conditions[*].lastTransitionTime .status.conditions[*].status .status.conditions[*].type
				.status.phase .status.podIP .status.podIPs[*].ip`,
			whole: ".status.podIPs[*] whole",
		},
		"Service": {
			reads: `.metadata.creationTimestamp .metadata.labels
				.spec.clusterIP .spec.ipFamilies .spec.ports[*].appProtocol .spec.ports[*].name
				.spec.ports[*].protocol .spec.ports[*].targetPort .spec.publishNotReadyAddresses .spec.selector .spec.type`,
		},
		"Endpoints": {
			reads: `.metadata.annotations .metadata.labels
				.subsets[*].addresses[*].ip .subsets[*].addresses[*].targetRef.uid
				.subsets[*].notReadyAddresses[*].ip .subsets[*].notReadyAddresses[*].targetRef.uid
				.subsets[*].ports[*].appProtocol .subsets[*].ports[*].name .subsets[*].ports[*].port .subsets[*].ports[*].protocol`,
			whole: `the object written back, .subsets whole, .subsets[*].addresses[*] whole,
				.subsets[*].notReadyAddresses[*] whole, .subsets[*].ports[*] whole`,
		},
	})
}

// always are fields that each object has, in a projection too.
var always = strings.Fields(".apiVersion .kind .metadata.name .metadata.namespace .metadata.resourceVersion .metadata.uid")

func compare(t *testing.T, program string, want map[string]expected) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	report, err := fields.Find(t.Context(), fields.Config{Dir: dir, Patterns: []string{program}})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Unknown) > 0 {
		t.Errorf("uses of objects of an unknown kind: %v", report.Unknown)
	}
	got := map[string]expected{}
	for _, kind := range report.Kinds {
		var reads, whole []string
		for _, u := range kind.Uses {
			switch u.How {
			case fields.Read, fields.Present:
				path, _, _ := strings.Cut(u.Path, "['")
				path = strings.TrimSuffix(strings.TrimSuffix(path, "[keys]"), "[*]")
				if !slices.Contains(always, path) {
					reads = append(reads, path)
				}
			default:
				path := u.Path
				if path == "" {
					path = "the object"
				}
				whole = append(whole, path+" "+string(u.How))
			}
		}
		got[kind.Name] = expected{sorted(reads, " "), sorted(whole, ", ")}
	}
	for name, e := range want {
		whole := strings.Split(e.whole, ",")
		for i, w := range whole {
			whole[i] = strings.TrimSpace(w)
		}
		want[name] = expected{sorted(strings.Fields(e.reads), " "), sorted(whole, ", ")}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(expected{})); diff != "" {
		t.Errorf("%s: what a reader names (-), and what is found (+):\n%s", program, diff)
	}
}

// sorted joins words, each once.
func sorted(words []string, separator string) string {
	slices.Sort(words)
	return strings.Join(slices.Compact(words), separator)
}
