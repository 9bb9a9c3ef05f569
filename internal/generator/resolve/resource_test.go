// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"os"
	"strings"
	"testing"

	"github.com/gobuffalo/flect"
)

// TestDocumentedPlurals compares the table of plurals in docs/code-generator.md with the rules.
func TestDocumentedPlurals(t *testing.T) {
	document, err := os.ReadFile("../../../docs/code-generator.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(document), "| kind | code-generator | controller-gen |\n|---|---|---|\n")
	if !ok {
		t.Fatal("docs/code-generator.md has no table of plurals")
	}
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 3 {
			break
		}
		rows++
		kinds, byGengo, byFlect := strings.Split(cells[0], ", "), strings.Split(cells[1], ", "), strings.Split(cells[2], ", ")
		for i, kind := range kinds {
			if got := strings.ToLower(pluralByRule(kind)); got != byGengo[i] {
				t.Errorf("%s: %s by code-generator, not %s", kind, got, byGengo[i])
			}
			if got := strings.ToLower(flect.Pluralize(kind)); got != byFlect[i] {
				t.Errorf("%s: %s by controller-gen, not %s", kind, got, byFlect[i])
			}
		}
	}
	if rows == 0 {
		t.Error("the table is empty")
	}
}

func TestPluralsFollowTheRulesOfCodeGenerator(t *testing.T) {
	for kind, want := range map[string]string{
		"Widget": "Widgets", "Ingress": "Ingresses", "NetworkPolicy": "NetworkPolicies", "Gateway": "Gateways",
		"Endpoints": "Endpoints", "EndpointSlice": "EndpointSlices", "StorageClass": "StorageClasses", "Leaf": "Leaves",
	} {
		if got := pluralByRule(kind); got != want {
			t.Errorf("the plural of %s is %s, want %s", kind, got, want)
		}
	}
}
