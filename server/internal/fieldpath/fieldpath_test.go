// SPDX-License-Identifier: Apache-2.0

package fieldpath

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for path, want := range map[string][]string{
		".spec":                             {"spec"},
		".metadata.managedFields":           {"metadata", "managedFields"},
		`.metadata.annotations["a.b/c[d]"]`: {"metadata", "annotations", "a.b/c[d]"},
		`["odd.name"].x["y"].z`:             {"odd.name", "x", "y", "z"},
		".spec.labels":                      {"spec", "labels"},
	} {
		if got, err := Parse(path); err != nil || !slices.Equal(got, want) {
			t.Errorf("Parse(%s) = %q, %v; want %q", path, got, err, want)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for path, why := range map[string]string{
		"":                          "it is empty",
		".":                         "a name is empty",
		".spec..x":                  "a name is empty",
		".spec.":                    "a name is empty",
		`.spec[""]`:                 "a name is empty",
		"spec.x":                    `"spec.x" begins with neither`,
		".spec[0]":                  `"[0]" begins with neither`,
		`.spec["x`:                  `a [" has no "]`,
		".kind":                     "every object needs its kind",
		".apiVersion":               "every object needs its apiVersion",
		".metadata":                 "every object needs its metadata",
		".metadata.resourceVersion": "every object needs its metadata.resourceVersion",
		`.metadata.labels["x"]`:     "every object needs its metadata.labels",
	} {
		if got, err := Parse(path); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Parse(%s) = %q, %v; want the error %s", path, got, err, why)
		}
	}
}
