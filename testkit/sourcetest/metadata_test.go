// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestMalformedMetadataIsRefused has a dynamic client write objects that typed clients can't read.
func TestMalformedMetadataIsRefused(t *testing.T) {
	server := sourcetest.New()
	widgets := sourcetest.Serve[*unstructured.Unstructured](server, widgetResource, "Widget")
	widget := func(metadata string) string {
		return `{"apiVersion":"samples.io/v1","kind":"Widget","metadata":` + metadata + `}`
	}
	for metadata, why := range map[string]string{
		`{"name":7}`:                         "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
		`{"name":"a","labels":{"size":1}}`:   "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
		`{"name":"a","finalizers":"x"}`:      "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string",
		`"a"`:                                "json: cannot unmarshal string into Go value of type v1.ObjectMeta",
		`{"name":"a","ownerReferences":[7]}`: "json: cannot unmarshal number into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference",
	} {
		expect(t, metadata, call(t, server, "POST", inWidgets, widget(metadata)), `400 BadRequest Widget in version "v1" cannot be handled as a Widget: `+why)
	}
	if all := widgets.All(); len(all) > 0 {
		t.Errorf("%d objects are stored, want none", len(all))
	}

	expect(t, "odd, but well-formed", call(t, server, "POST", inWidgets, widget(`{"name":"a","labels":null,"shape":"round"}`)), "201 a at 2")
	stored, _ := widgets.Get("shop", "a")
	metadata := stored.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "shape"} {
		if value, ok := metadata[field]; ok {
			t.Errorf("metadata.%s is stored as %v, want it dropped", field, value)
		}
	}
	patched := call(t, server, "PATCH", inWidgets+"/a", `{"metadata":{"labels":{"size":1}}}`, "Content-Type", "application/merge-patch+json")
	if patched.code != 422 {
		t.Errorf("a patch to malformed labels: %v, want 422", patched)
	}
}

// TestCreateOfOddVersions: a create with a resourceVersion gets the answer of API servers.
func TestCreateOfOddVersions(t *testing.T) {
	server := sourcetest.New()
	sourcetest.Serve[*unstructured.Unstructured](server, widgetResource, "Widget")
	for version, want := range map[string]string{
		"0": "201 a", "abc": "201 a", "1": "500  resourceVersion should not be set on objects to be created",
	} {
		widget := `{"apiVersion":"samples.io/v1","kind":"Widget","metadata":{"name":"a","resourceVersion":"` + version + `"}}`
		if dry := call(t, server, "POST", inWidgets+"?dryRun=All", widget); dry.code == 201 {
			expect(t, version+", dryRun", dry, want+" at")
		}
		created := call(t, server, "POST", inWidgets, widget)
		if created.code == 201 {
			want += " at " + server.ResourceVersion()
		}
		expect(t, version, created, want)
		call(t, server, "DELETE", inWidgets+"/a", "")
	}
}
