// SPDX-License-Identifier: Apache-2.0

package templates

import "testing"

func TestAssumedNamesMatchGoimports(t *testing.T) {
	for importPath, want := range map[string]string{
		"iter": "iter", "k8s.io/api/core/v1": "core", "example.com/api/v1alpha1": "v1alpha1", "example.com/go-yaml": "yaml",
		"gopkg.in/yaml.v3": "yaml", "v1": "v1",
	} {
		if got := assumedName(importPath); got != want {
			t.Errorf("assumedName(%q) = %q, want %q", importPath, got, want)
		}
	}
}
