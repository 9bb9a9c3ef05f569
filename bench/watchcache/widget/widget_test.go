// SPDX-License-Identifier: Apache-2.0

package widget

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Both forms of a widget are those of one object, written as an API server writes it.
func TestFormsOfAWidget(t *testing.T) {
	s := Set{Len: 1000, Nodes: 100}
	for _, i := range []int{0, 1, 999} {
		object, u := s.Object(i, 42), s.Unstructured(i, 42)
		if object.Key != u.GetNamespace()+"/"+u.GetName() || object.Version != 42 || u.GetResourceVersion() != "42" {
			t.Errorf("widget %d is %s at %d, and %s at %s", i, object.Key, object.Version, u.GetName(), u.GetResourceVersion())
		}
		if rare := object.Labels.Get("rare") == "yes"; rare != (i%100 == 0) {
			t.Errorf("widget %d: rare is %v", i, rare)
		}
		if got := object.Fields.Get(NodeField); got != Node(i%100) {
			t.Errorf("widget %d is on %s", i, got)
		}
		var sorted bytes.Buffer
		if err := unstructured.UnstructuredJSONScheme.Encode(u, &sorted); err != nil {
			t.Fatal(err)
		}
		if got := bytes.TrimSpace(sorted.Bytes()); !bytes.Equal(got, object.Bytes) {
			t.Errorf("an API server writes widget %d as\n%s\nnot\n%s", i, got, object.Bytes)
		}
		if size := len(object.Bytes); size < 1150 || size > 1350 {
			t.Errorf("widget %d has %d bytes, want about 1,250", i, size)
		}
	}
}

func TestAWidgetToCreateHasNoVersion(t *testing.T) {
	if data := Unlike(1).JSON(0, 0); bytes.Contains(data, []byte("resourceVersion")) || bytes.Contains(data, []byte("uid")) {
		t.Errorf("got %s", data)
	}
}
