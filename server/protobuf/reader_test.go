// SPDX-License-Identifier: Apache-2.0

package protobuf_test

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func TestRead(t *testing.T) {
	data := marshal(t, newPod())
	fields := []string{"spec.nodeName", "spec.hostNetwork", "spec.schedulerName", "status.phase"}
	got, err := newReader(t, fields).Read(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &watchcache.Object{
		Key: "a/one", UID: "u-1", Version: 42, Bytes: data,
		Labels: watchcache.PairsOf(map[string]string{"app": "x", "empty": ""}),
		Fields: watchcache.PairsOf(map[string]string{"spec.nodeName": "n1", "spec.hostNetwork": "false", "status.phase": "Running"}),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if &got.Bytes[0] == &data[0] {
		t.Error("Read returned the message itself, want a copy")
	}
	number := &appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{Replicas: 7}}
	number.Name = "one"
	r, err := protobuf.NewReader(protobuf.BuiltIn(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}), []string{"status.replicas"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Read(marshal(t, number)); err != nil || got.Key != "one" || got.Version != 0 || got.Fields.Get("status.replicas") != "7" {
		t.Errorf("Read of a ReplicaSet = %+v, %v; want status.replicas 7", got, err)
	}
}

func TestReadRejects(t *testing.T) {
	good := string(marshal(t, newPod()))
	for data, why := range map[string]string{
		"":                                    "metadata.name is missing",
		"\x0a\x05\x0a\x03one\x0a":             "malformed protobuf",
		good[:len(good)-1]:                    "malformed protobuf",
		"\x0a\x08\x0a\x03one\x32\x01x":        `parsing "x"`,
		"\x0a\x08\x0a\x03one\x5a\x01\x0a":     "malformed protobuf",
		"\x0a\x05\x0a\x03one\x12\x02\x52\x05": "spec.nodeName: malformed protobuf",
		"\x0f":                                "malformed protobuf",
	} {
		if got, err := newReader(t, []string{"spec.nodeName"}).Read([]byte(data)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Read(%q) = %+v, %v; want the error %s", data, got, err, why)
		}
	}
	pods := protobuf.BuiltIn(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	for _, test := range []struct {
		field, drop, why string
	}{
		{"spec.none", ".spec", "the field spec.none has no number"},
		{"spec.nodeName", ".spec.none", "the path .spec.none to drop has no number"},
		{"spec.nodeName", ".metadata.name", "every object needs its metadata.name"},
	} {
		if _, err := protobuf.NewReader(pods, []string{test.field}, []string{test.drop}); err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("NewReader(%s, %s): got %v, want the error %s", test.field, test.drop, err, test.why)
		}
	}
}

var (
	dropped = []string{".metadata.managedFields", `.metadata.annotations["a/hidden"]`, ".spec.nodeName", ".spec.hostNetwork", ".status", ".status.phase"}
	// strip removes the same parts from a Pod.
	strip = func(pod *corev1.Pod) {
		pod.ManagedFields = nil
		delete(pod.Annotations, "a/hidden")
		if len(pod.Annotations) == 0 {
			pod.Annotations = nil
		}
		pod.Spec.NodeName, pod.Spec.HostNetwork = "", false
		pod.Status = corev1.PodStatus{}
	}
)

func TestDrop(t *testing.T) {
	pod := newPod()
	got, err := newReader(t, []string{"spec.nodeName"}, dropped...).Read(marshal(t, pod))
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"hidden", "n1", "Running"} {
		if strings.Contains(string(got.Bytes), hidden) {
			t.Errorf("%q still has %s", got.Bytes, hidden)
		}
	}
	strip(pod)
	var left corev1.Pod
	if err := left.Unmarshal(got.Bytes); err != nil || !reflect.DeepEqual(&left, pod) {
		t.Errorf("got  %+v, %v\nwant %+v", &left, err, pod)
	}
	if got.Fields.Get("spec.nodeName") != "n1" {
		t.Errorf("the fields are %v, want the dropped spec.nodeName too", got.Fields)
	}
}

// FuzzRead compares read fields and dropped parts with a decoded Pod.
func FuzzRead(f *testing.F) {
	full, dropping := newReader(f, []string{"spec.nodeName"}), newReader(f, nil, dropped...)
	f.Add(marshal(f, newPod()))
	f.Fuzz(func(t *testing.T, data []byte) {
		var pod, left corev1.Pod
		o, err := full.Read(data)
		if err != nil || pod.Unmarshal(data) != nil {
			return
		}
		if o.Key != object.KeyOf(&pod).String() || o.UID != string(pod.UID) || o.Fields.Get("spec.nodeName") != pod.Spec.NodeName {
			t.Errorf("Read() = %+v, want the metadata of %+v", o, pod)
		}
		for name, value := range pod.Labels {
			if got, ok := o.Labels.Lookup(name); !ok || got != value {
				t.Errorf("the labels are %v, want %v", o.Labels, pod.Labels)
			}
		}
		cut, err := dropping.Read(data)
		if err != nil {
			return // a field has another type than in a Pod
		}
		if err := left.Unmarshal(cut.Bytes); err != nil {
			t.Fatalf("%q became %q: %v", data, cut.Bytes, err)
		}
		strip(&pod)
		strip(&left)
		if !reflect.DeepEqual(marshal(t, &left), marshal(t, &pod)) {
			t.Errorf("%q became %q", data, cut.Bytes)
		}
	})
}

// TestBuiltIn compares the numbers of built-in kinds with their Go types.
func TestBuiltIn(t *testing.T) {
	for kind, sample := range map[schema.GroupVersionKind]any{
		{Version: "v1", Kind: "Pod"}:                                                     corev1.Pod{},
		{Version: "v1", Kind: "Node"}:                                                    corev1.Node{},
		{Version: "v1", Kind: "Namespace"}:                                               corev1.Namespace{},
		{Version: "v1", Kind: "Secret"}:                                                  corev1.Secret{},
		{Version: "v1", Kind: "ConfigMap"}:                                               corev1.ConfigMap{},
		{Version: "v1", Kind: "Service"}:                                                 corev1.Service{},
		{Version: "v1", Kind: "Event"}:                                                   corev1.Event{},
		{Group: "apps", Version: "v1", Kind: "ReplicaSet"}:                               appsv1.ReplicaSet{},
		{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}: certificatesv1.CertificateSigningRequest{},
	} {
		s := protobuf.BuiltIn(kind)
		if len(s) == 0 {
			t.Errorf("BuiltIn(%v) has no fields", kind)
		}
		for _, path := range slices.Sorted(maps.Keys(s)) {
			numbers, isBool := lookUp(reflect.TypeOf(sample), strings.Split(path, "."))
			if !slices.Equal(s[path].Numbers, numbers) || s[path].Bool != isBool {
				t.Errorf("%s of %v is %+v, want the numbers %v, Bool %t", path, kind, s[path], numbers, isBool)
			}
		}
	}
	if s := protobuf.BuiltIn(schema.GroupVersionKind{Kind: "Widget"}); s == nil || len(s) > 0 {
		t.Errorf("BuiltIn(Widget) = %v, want an empty schema", s)
	}
}

// lookUp returns the field numbers of a path, from the struct tags.
func lookUp(typ reflect.Type, names []string) (numbers []int, isBool bool) {
	if len(names) == 0 {
		return nil, typ.Kind() == reflect.Bool
	}
	for field := range typ.Fields() {
		if json, _, _ := strings.Cut(field.Tag.Get("json"), ","); json != names[0] {
			continue
		}
		number, err := strconv.Atoi(strings.Split(field.Tag.Get("protobuf"), ",")[1])
		if err != nil {
			return nil, false
		}
		rest, isBool := lookUp(field.Type, names[1:])
		return append([]int{number}, rest...), isBool
	}
	return nil, false
}
