// SPDX-License-Identifier: Apache-2.0

package endstate

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLinesOmitVolatileParts(t *testing.T) {
	read := func(text string) (obj unstructured.Unstructured) {
		t.Helper()
		if err := obj.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return obj
	}
	lines, err := Lines([]unstructured.Unstructured{
		read(`{"kind":"B","metadata":{"name":"b","uid":"1","resourceVersion":"7","ownerReferences":[{"name":"a","uid":"2"}]}}`),
		read(`{"kind":"A","metadata":{"name":"a"},"status":{"conditions":[{"type":"Y","lastTransitionTime":"now"},{"type":"X"}],"startTime":"now"}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"kind":"A","metadata":{"name":"a"},"status":{"conditions":[{"type":"X"},{"type":"Y"}]}}`,
		`{"kind":"B","metadata":{"name":"b","ownerReferences":[{"name":"a"}]}}`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	if only := Without([]string{"a", "b", "b"}, []string{"b", "c"}); only != "a\nb" {
		t.Errorf("only the first lines have %q", only)
	}
}
