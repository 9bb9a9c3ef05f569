// SPDX-License-Identifier: Apache-2.0

package data

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func marshal(t *testing.T, obj any) []byte {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWorkloadsHaveOneToTwoThousandReplicas(t *testing.T) {
	for _, n := range []int{1, 7, 120, 300, 5_000, 20_000, 100_000} {
		replicas := replicasOf(n)
		sum := 0
		for _, r := range replicas {
			if r < 1 || r > maxReplicas {
				t.Errorf("with %d Pods, a workload has %d", n, r)
			}
			sum += r
		}
		if sum != n {
			t.Errorf("%d Pods are in the workloads of %d", sum, n)
		}
		if n >= 5_000 && len(replicas) != maxWorkloads {
			t.Errorf("%d Pods are of %d workloads", n, len(replicas))
		}
		if n >= 20_000 && (replicas[0] != 1 || slices.Max(replicas) < maxReplicas*9/10) {
			t.Errorf("workloads of %d Pods have from %d to %d replicas", n, replicas[0], slices.Max(replicas))
		}
	}
}

func TestPodsAreSortedAndRepeatable(t *testing.T) {
	const n = 5_000
	plan, again := NewPodPlan(n), NewPodPlan(n)
	last, total := "", 0
	own := map[string]bool{} // values of one Pod only
	for i := range n {
		pod := plan.Pod(i, 0, 0)
		text := marshal(t, pod)
		total += len(text)
		if !bytes.Equal(text, marshal(t, again.Pod(i, 0, 0))) {
			t.Fatalf("two calls make different Pods %d", i)
		}
		key := pod.Namespace + "/" + pod.Name
		if key <= last {
			t.Fatalf("%s comes after %s", key, last)
		}
		last = key
		token := pod.Spec.Volumes[0].Name
		for _, c := range pod.Spec.Containers {
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == token }) {
				t.Errorf("%s: container %s doesn't mount %s", key, c.Name, token)
			}
		}
		if !strings.Contains(pod.ManagedFields[1].FieldsV1.GetRawString(), pod.Status.PodIP) {
			t.Errorf("%s: the kubelet doesn't own %s", key, pod.Status.PodIP)
		}
		for _, what := range []string{key, string(pod.UID), pod.ResourceVersion,
			pod.Status.ContainerStatuses[0].ContainerID, pod.Status.ContainerStatuses[1].ContainerID} {
			if own[what] {
				t.Errorf("two Pods have %s", what)
			}
			own[what] = true
		}
	}
	if mean := total / n; mean < 4_000 || mean > 5_000 {
		t.Errorf("a Pod has %d bytes of JSON, want 4 to 5 KB", mean)
	}
}

// TestRevisionsAreOfTheSamePod: a restart changes the status and kubelet's entry, and keeps the
// identity of the Pod.
func TestRevisionsAreOfTheSamePod(t *testing.T) {
	plan := NewPodPlan(100)
	before, after, later := plan.Pod(7, 0, 0), plan.Pod(7, 1, 12345), plan.Pod(7, 2, 12346)
	if before.Name != after.Name || before.UID != after.UID || after.ResourceVersion != "12345" {
		t.Errorf("got %s %s %s from %s %s", after.Name, after.UID, after.ResourceVersion, before.Name, before.UID)
	}
	if !bytes.Equal(marshal(t, before.Spec), marshal(t, after.Spec)) {
		t.Error("a restart changes the spec")
	}
	if r := later.Status.ContainerStatuses[0].RestartCount; r != 2 {
		t.Errorf("after two restarts, the count is %d", r)
	}
	if before.Status.ContainerStatuses[0].ContainerID == after.Status.ContainerStatuses[0].ContainerID {
		t.Error("the container's ID is the same")
	}
}

func TestDistinctObjectsShareNoString(t *testing.T) {
	plan := NewPodPlan(200)
	texts := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	// The names of fields and of kinds are not data.
	fields := map[string]bool{}
	for _, t := range []string{"Pod", "v1", "Update", "FieldsV1", "status"} {
		fields[strconv.Quote(t)] = true
	}
	seen := map[string]int{}
	for i := range 50 {
		pod := plan.Pod(i, 1, 0)
		d := newDistinct(i)
		d.object(pod)
		if used := d.next - newDistinct(i).next; used >= stringsPerObject {
			t.Fatalf("Pod %d has %d strings", i, used)
		}
		text := marshal(t, pod)
		var back corev1.Pod
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if again := plan.Pod(i, 1, 0); !bytes.Equal(text, func() []byte { newDistinct(i).object(again); return marshal(t, again) }()) {
			t.Fatalf("two calls make different Pods %d", i)
		}
		for _, at := range texts.FindAllStringIndex(string(text), -1) {
			s := string(text[at[0]:at[1]])
			if fieldNames[s] || fields[s] {
				continue
			}
			if j, ok := seen[s]; ok {
				t.Errorf("Pods %d and %d have %s", j, i, s)
			}
			seen[s] = i
		}
	}
}

// fieldNames are the quoted names of a Pod's fields.
var fieldNames = func() map[string]bool {
	names := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, below := range v {
				names[strconv.Quote(name)] = true
				switch name {
				case "labels", "annotations", "fieldsV1", "limits", "requests": // names are data
				default:
					walk(below)
				}
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	text, err := json.Marshal(NewPodPlan(10).Pod(3, 1, 0))
	if err != nil {
		panic(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		panic(err)
	}
	walk(tree)
	return names
}()
