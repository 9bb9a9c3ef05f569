// SPDX-License-Identifier: Apache-2.0

// Package endstate writes objects as text, to compare the final states of two runs of a test.
package endstate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// volatileFields are fields, labels and annotations with different values in each run.
var volatileFields = []string{
	"uid", "controller-uid", "batch.kubernetes.io/controller-uid", "resourceVersion", "managedFields", "generation", "observedGeneration",
	"creationTimestamp", "deletionTimestamp", "lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime", "timeAdded",
	"startTime", "completionTime", "endpoints.kubernetes.io/last-change-trigger-time",
}

// unorderedLists are lists without a meaningful order.
var unorderedLists = []string{"conditions", "endpoints"}

// Lines returns each object as a line of JSON, without uids, versions and times. The lines are
// sorted, and so are lists without a meaningful order. It changes the objects.
func Lines(objects []unstructured.Unstructured) ([]string, error) {
	lines := make([]string, 0, len(objects))
	for _, obj := range objects {
		prune(obj.Object)
		text, err := json.Marshal(obj.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s %s as JSON: %w", obj.GetKind(), obj.GetName(), err)
		}
		lines = append(lines, string(text))
	}
	slices.Sort(lines)
	return lines, nil
}

// Without returns, as one text, the lines less frequent in others.
func Without(lines, others []string) string {
	others = slices.Clone(others)
	var only []string
	for _, line := range lines {
		if at := slices.Index(others, line); at >= 0 {
			others = slices.Delete(others, at, at+1)
		} else {
			only = append(only, line)
		}
	}
	return strings.Join(only, "\n")
}

func prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range volatileFields {
			delete(v, name)
		}
		for _, child := range v {
			prune(child)
		}
		for _, name := range unorderedLists {
			if list, ok := v[name].([]any); ok {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(textOf(a), textOf(b)) })
			}
		}
	case []any:
		for _, child := range v {
			prune(child)
		}
	}
}

// textOf writes maps in the order of their keys.
func textOf(value any) string { return fmt.Sprint(value) }
