// SPDX-License-Identifier: Apache-2.0

package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/server/internal/fieldpath"
)

func TestDrop(t *testing.T) {
	for _, test := range []struct{ drop, data, want string }{
		{".metadata.managedFields", `{"metadata":{"name":"a","managedFields":[{"x":{}}]}}`, `{"metadata":{"name":"a"}}`},
		{".metadata.managedFields", `{"metadata":{"managedFields":[] , "name":"a"}}`, `{"metadata":{"name":"a"}}`},
		{".metadata.managedFields", `{"metadata":{ "uid" : "u" , "managedFields" : [] , "name":"a" }}`, `{"metadata":{ "uid" : "u" , "name":"a" }}`},
		{
			`.metadata.annotations["a.b/c"]`,
			`{"metadata":{"name":"a","annotations":{"a.b/c":"{}","a":"\u0061"}},"a.b/c":1}`,
			`{"metadata":{"name":"a","annotations":{"a":"\u0061"}},"a.b/c":1}`,
		},
		{`.metadata.annotations["a.b/c"]`, `{"metadata":{"name":"a","annotations":{"a.b\/c":"{}"}}}`, `{"metadata":{"name":"a","annotations":{}}}`},
		{`.metadata.annotations["a.b/c"]`, `{"metadata":{"name":"a","annotations":null}}`, `{"metadata":{"name":"a","annotations":null}}`},
		{".spec.a .spec.b .spec.d", `{"spec":{"a":1,"b":2,"c":3,"d":4,"e":5},"metadata":{"name":"a"}}`, `{"spec":{"c":3,"e":5},"metadata":{"name":"a"}}`},
		{".spec.a .spec.b", `{"spec":{"a":1,"b":2},"metadata":{"name":"a"}}`, `{"spec":{},"metadata":{"name":"a"}}`},
		{".spec .status", `{"spec":{},"status":{},"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		{".spec.a .spec.a.b .spec.c", `{"metadata":{"name":"a"},"spec":{"a":{"x":1,"b":2},"c":{}}}`, `{"metadata":{"name":"a"},"spec":{}}`},
		{".spec.a.b", `{"metadata":{"name":"a"},"spec":{"a":[{"b":1}]}}`, `{"metadata":{"name":"a"},"spec":{"a":[{"b":1}]}}`},
	} {
		h, err := reader(t, []string{"spec.a"}, strings.Fields(test.drop)...).Parse([]byte(test.data))
		if err != nil {
			t.Errorf("Parse(%s): %v", test.data, err)
			continue
		}
		h.Kind = "Any" // so Stamp adds none
		if got, err := h.Stamp([]byte(test.data), "", ""); err != nil || string(got) != test.want {
			t.Errorf("without %s\ngot  %s, %v\nwant %s", test.drop, got, err, test.want)
		}
	}
	if _, err := NewReader(nil, []string{".metadata"}); err == nil {
		t.Error("NewReader accepts dropping .metadata")
	}
}

// TestDroppedFieldsAreRead shows that dropped fields can be used by selectors.
func TestDroppedFieldsAreRead(t *testing.T) {
	data := []byte(`{"spec":{"secret":{"level":"high"},"x":1},"metadata":{"name":"a"}}`)
	h, err := reader(t, []string{"spec.secret.level"}, ".spec.secret").Parse(data)
	if err != nil || h.Fields["spec.secret.level"] != "high" {
		t.Errorf("the fields are %v, %v", h.Fields, err)
	}
	want := `{"kind":"Pod","apiVersion":"v1","spec":{"x":1},"metadata":{"name":"a"}}`
	if got, err := h.Stamp(data, "v1", "Pod"); err != nil || string(got) != want {
		t.Errorf("Stamp() = %s, %v; want %s", got, err, want)
	}
}

// FuzzDrop compares dropping with deleting from an object decoded by encoding/json.
func FuzzDrop(f *testing.F) {
	drop := []string{".metadata.managedFields", `.metadata.annotations["a/b"]`, ".spec.x", ".spec.x.y", ".spec.z.y", ".status"}
	r := reader(f, []string{"spec.x"}, drop...)
	f.Add([]byte(`{"kind":"K","metadata":{"name":"a","managedFields":[1],"annotations":{"a/b":"c"}},"spec":{"x":1}}`))
	f.Add([]byte(` { "status" : {} , "metadata" : { "annotations" : { "a\/b" : 1 , "c" : 2 } , "name" : "a" } , "spec" : { "x" : { "y" : 2 } , "z" : { "y" : [ ] } } } `))
	f.Add([]byte(`{"spec":{"x":[],"a":{"x":1},"z":{"a":1,"y":2}},"status":null,"metadata":{"managedFields":{},"name":"a","uid":"u"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := r.Parse(data)
		if err != nil {
			return
		}
		cut, err := h.Stamp(data, "v1", "K")
		if err != nil {
			t.Fatal(err)
		}
		want := decoded(t, data)
		for _, path := range drop {
			names, err := fieldpath.Parse(path)
			if err != nil {
				t.Fatal(err)
			}
			remove(want, names)
		}
		for _, name := range []string{"apiVersion", "kind"} {
			if want[name] == "" || want[name] == nil {
				delete(want, name)
			}
		}
		if h.APIVersion == "" && h.Kind == "" {
			want["apiVersion"], want["kind"] = "v1", "K"
		}
		if got := decoded(t, cut); !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %q", data, cut)
		}
	})
}

func decoded(t *testing.T, data []byte) (object map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return object
}

func remove(object map[string]any, names []string) {
	if len(names) == 1 {
		delete(object, names[0])
	} else if below, ok := object[names[0]].(map[string]any); ok {
		remove(below, names[1:])
	}
}
