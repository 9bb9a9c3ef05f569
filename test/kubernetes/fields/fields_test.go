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

// expected are the uses of a kind, as found by a person who read the controller's code and had not
// seen the tool's findings.
type expected struct {
	// reads are the fields read, without commonFields; in place of the keys of a map, the map.
	reads string
	// otherUses are all other uses, each with its kind.
	otherUses string
}

// TestSampleController: Foos are written back with their status. Deployments are looked up by their
// owner and compared. Written Deployments are new objects.
func TestSampleController(t *testing.T) {
	compare(t, "k8s.io/sample-controller", map[string]expected{
		"Foo": {
			reads:     ".spec.deploymentName .spec.replicas",
			otherUses: "the object written back",
		},
		"Deployment": {
			reads: `.metadata.ownerReferences[*].blockOwnerDeletion .metadata.ownerReferences[*].controller
				.metadata.ownerReferences[*].kind .metadata.ownerReferences[*].name .metadata.ownerReferences[*].uid
				.spec.replicas .status.availableReplicas`,
		},
	})
}

// TestKubernetesEndpointsController: handlers print an object without a key. The other uses are in
// helpers in three other modules and packages, which make Endpoints of Services and Pods.
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
			otherUses: "the object not followed",
		},
		"Service": {
			reads: `.metadata.creationTimestamp .metadata.labels
				.spec.clusterIP .spec.ipFamilies .spec.ports[*].appProtocol .spec.ports[*].name
				.spec.ports[*].protocol .spec.ports[*].targetPort .spec.publishNotReadyAddresses .spec.selector .spec.type`,
			otherUses: "the object not followed",
		},
		"Endpoints": {
			reads: `.metadata.annotations .metadata.labels
				.subsets[*].addresses[*].ip .subsets[*].addresses[*].targetRef.uid
				.subsets[*].notReadyAddresses[*].ip .subsets[*].notReadyAddresses[*].targetRef.uid .subsets[*].ports[*].port`,
			otherUses: `the object not followed, the object written back, .subsets whole,
				.subsets[*] whole, .subsets[*].addresses whole, .subsets[*].addresses[*] not followed, .subsets[*].addresses[*] whole,
				.subsets[*].notReadyAddresses whole, .subsets[*].notReadyAddresses[*] not followed, .subsets[*].notReadyAddresses[*] whole,
				.subsets[*].ports[*] whole`,
		},
	})
}

// TestEndpointsControllerOfTheExamples: the same controller, written for generated informers of
// this project.
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
			otherUses: ".status.podIPs[*] whole",
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
			otherUses: `the object written back, .subsets whole, .subsets[*].addresses[*] whole,
				.subsets[*].notReadyAddresses[*] whole, .subsets[*].ports[*] whole`,
		},
	})
}

// commonFields are in each object, also in a projection.
var commonFields = strings.Fields(".apiVersion .kind .metadata.name .metadata.namespace .metadata.resourceVersion .metadata.uid")

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
		t.Errorf("%s uses objects of unknown kinds: %v", program, report.Unknown)
	}
	got := map[string]expected{}
	for _, kind := range report.Kinds {
		var reads, otherUses []string
		for _, u := range kind.Uses {
			switch u.How {
			case fields.Read, fields.Present:
				path, _, _ := strings.Cut(u.Path, "['")
				path = strings.TrimSuffix(strings.TrimSuffix(path, "[keys]"), "[*]")
				if !slices.Contains(commonFields, path) {
					reads = append(reads, path)
				}
			default:
				path := u.Path
				if path == "" {
					path = "the object"
				}
				otherUses = append(otherUses, path+" "+string(u.How))
			}
		}
		got[kind.Name] = expected{sorted(reads, " "), sorted(otherUses, ", ")}
	}
	for name, e := range want {
		otherUses := strings.Split(e.otherUses, ",")
		for i, w := range otherUses {
			otherUses[i] = strings.TrimSpace(w)
		}
		want[name] = expected{sorted(strings.Fields(e.reads), " "), sorted(otherUses, ", ")}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(expected{})); diff != "" {
		t.Errorf("uses in %s (-by a reader +by the tool):\n%s", program, diff)
	}
}

// sorted joins words, sorted and without repetitions.
func sorted(words []string, separator string) string {
	slices.Sort(words)
	return strings.Join(slices.Compact(words), separator)
}
