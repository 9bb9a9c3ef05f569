// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestFormsOfAWidget: both forms of a widget are the same object, as written by an API server.
func TestFormsOfAWidget(t *testing.T) {
	for _, i := range []int{0, 1, 999} {
		object, u := widgetObject(i, 42), unstructuredWidget(i, 42)
		if object.Key != u.GetNamespace()+"/"+u.GetName() || object.Version != 42 || u.GetResourceVersion() != "42" {
			t.Errorf("widget %d is %s at %d, and %s at %s", i, object.Key, object.Version, u.GetName(), u.GetResourceVersion())
		}
		var sorted bytes.Buffer
		if err := unstructured.UnstructuredJSONScheme.Encode(u, &sorted); err != nil {
			t.Fatal(err)
		}
		if got := bytes.TrimSpace(sorted.Bytes()); !bytes.Equal(got, object.Bytes) {
			t.Errorf("an API server writes widget %d as\n%s\nnot\n%s", i, got, object.Bytes)
		}
	}
}
