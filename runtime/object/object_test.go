// SPDX-License-Identifier: Apache-2.0

package object_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

var _ object.Object = &metav1.PartialObjectMetadata{}

func TestKeyOf(t *testing.T) {
	obj := &metav1.ObjectMeta{Namespace: "ns", Name: "a"}
	if got, want := object.KeyOf(obj), (object.Key{Namespace: "ns", Name: "a"}); got != want {
		t.Errorf("KeyOf = %v, want %v", got, want)
	}
	if allocs := testing.AllocsPerRun(10, func() { object.KeyOf(obj) }); allocs != 0 {
		t.Errorf("KeyOf allocates %v times, want 0", allocs)
	}
}

func TestParseKey(t *testing.T) {
	for _, tc := range []struct {
		text string
		want object.Key
		ok   bool
	}{
		{"ns/a", object.Key{Namespace: "ns", Name: "a"}, true},
		{"a", object.Key{Name: "a"}, true},
		{"system:node:a.b", object.Key{Name: "system:node:a.b"}, true},
		{"", object.Key{}, false},
		{"/", object.Key{}, false},
		{"/a", object.Key{}, false},
		{"ns/", object.Key{}, false},
		{"ns/a/b", object.Key{}, false},
		{"ns//a", object.Key{}, false},
	} {
		got, err := object.ParseKey(tc.text)
		if got != tc.want || (err == nil) != tc.ok {
			t.Errorf("ParseKey(%q) = %v, %v, want %v, ok %v", tc.text, got, err, tc.want, tc.ok)
		}
		if err == nil && got.String() != tc.text {
			t.Errorf("ParseKey(%q).String() = %q", tc.text, got)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("key %q: want", tc.text)) {
			t.Errorf("ParseKey(%q) fails with %q, want the key and the expected format", tc.text, err)
		}
	}
}

func TestKeysAreTextInJSON(t *testing.T) {
	keys := map[object.Key]object.Key{{Namespace: "ns", Name: "a"}: {Name: "b"}, {}: {}}
	text, err := json.Marshal(keys)
	if want := `{"":"","ns/a":"b"}`; err != nil || string(text) != want {
		t.Errorf("json.Marshal = %s, %v, want %s", text, err, want)
	}
	var again map[object.Key]object.Key
	if err := json.Unmarshal(text, &again); err != nil || !maps.Equal(again, keys) {
		t.Errorf("json.Unmarshal(%s) = %v, %v, want %v", text, again, err, keys)
	}
	if err := json.Unmarshal([]byte(`["ns/"]`), &[]object.Key{}); err == nil {
		t.Error("json.Unmarshal accepts a key without a name")
	}
}
