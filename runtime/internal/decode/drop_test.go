// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// podWithManagedFields returns a Pod with managedFields of realistic size, and with annotations to
// drop and keep.
func podWithManagedFields(t testing.TB) *corev1.Pod {
	p := podtest.LargeObject(t, 1)
	for i := range 4 {
		e := metav1.ManagedFieldsEntry{Manager: fmt.Sprint("manager-", i), Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1"}
		fields := `{"f:metadata":{"f:labels":{".":{}`
		for j := range 20 {
			fields += fmt.Sprintf(`,"f:name-of-a-label-%02d":{}`, j)
		}
		e.FieldsV1 = fieldsV1(fields + `}}}`)
		p.ManagedFields = append(p.ManagedFields, e)
	}
	p.Annotations["big"] = strings.Repeat("x", 300)
	p.Annotations[`we"ird`] = "kept"
	return p
}

// TestDroppedPartsAreMissing drops parts in every format and for every kind of Go type. All other
// parts are unchanged.
func TestDroppedPartsAreMissing(t *testing.T) {
	whole := podWithManagedFields(t)
	for name, opts := range map[string]Options{
		"nothing":         {},
		"managedFields":   {DropManagedFields: true},
		"an annotation":   {DropAnnotations: []string{"big", "unknown"}},
		"both":            {DropManagedFields: true, DropAnnotations: []string{"big"}},
		"all annotations": {DropManagedFields: true, DropAnnotations: []string{"big", "example.test/checksum", `we"ird`}},
	} {
		want := whole.DeepCopy()
		if opts.DropManagedFields {
			want.ManagedFields = nil
		}
		for _, key := range opts.DropAnnotations {
			delete(want.Annotations, key)
		}
		if len(want.Annotations) == 0 {
			want.Annotations = nil
		}
		list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*whole, *whole}}
		for _, f := range allFormats {
			got, _, err := listAll(newReader(t, f, podtest.Encode(t, f, list), func() *corev1.Pod { return &corev1.Pod{} }, opts))
			if err != nil || len(got) != 2 {
				t.Fatalf("%s from %v: %v", name, f, err)
			}
			events, err := watchAll(newReader(t, f, podtest.EncodeEvent(t, f, "ADDED", whole), func() *corev1.Pod { return &corev1.Pod{} }, opts))
			if err != nil || len(events) != 1 {
				t.Fatalf("%s from %v: %v", name, f, err)
			}
			for _, p := range append(got, events[0].Object) {
				if diff := cmp.Diff(want, p); diff != "" {
					t.Errorf("%s from %v (-want +got):\n%s", name, f, diff)
				}
			}
			if f == Protobuf {
				continue
			}
			data := podtest.Encode(t, JSON, want)
			var content map[string]any
			if err := (&unstructured.Unstructured{}).UnmarshalJSON(data); err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(data); err != nil {
				t.Fatal(err)
			}
			content = u.Object
			untyped, _, err := listAll(newReader(t, f, podtest.Encode(t, f, list), func() *unstructured.Unstructured { return &unstructured.Unstructured{} }, opts))
			if err != nil || len(untyped) != 2 {
				t.Fatalf("%s from %v: %v", name, f, err)
			}
			if diff := cmp.Diff(content, untyped[1].Object); diff != "" {
				t.Errorf("%s from %v, untyped (-want +got):\n%s", name, f, diff)
			}
		}
		// an event with the object before the type, and types of the slow decoder
		body := `{"object":` + string(bytes.TrimSpace(podtest.Encode(t, JSON, whole))) + `,"type":"ADDED"}`
		events, err := watchAll(newReader(t, JSON, []byte(body), func() *corev1.Pod { return &corev1.Pod{} }, opts))
		if err != nil || !cmp.Equal(want, events[0].Object) {
			t.Errorf("%s: event with the object first: %v, or the object differs", name, err)
		}
		for _, newObject := range []func() object.Object{
			func() object.Object { return &exotic{} },
			func() object.Object { return &kitchenSink{} }, // embeds more than its metadata
			func() object.Object { return &metav1.PartialObjectMetadata{} },
			func() object.Object { return &pointerMeta{ObjectMeta: &metav1.ObjectMeta{}} },
		} {
			opts := opts
			opts.Kind = "Pod"
			got, _, err := listAll(newReader(t, JSON, podtest.Encode(t, JSON, list), newObject, opts))
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(want.Annotations, got[1].GetAnnotations()) || !cmp.Equal(want.ManagedFields, got[1].GetManagedFields()) {
				t.Errorf("%s: %T has annotations %v and managedFields %v", name, got[1], got[1].GetAnnotations(), got[1].GetManagedFields())
			}
		}
	}
}

// pointerMeta is an object whose accessors panic without metadata.
type pointerMeta struct {
	metav1.TypeMeta    `json:",inline"`
	*metav1.ObjectMeta `json:"metadata"`
}

func (p *pointerMeta) DeepCopyObject() runtime.Object { return p }

// TestDroppingChangesNothingElse compares objects decoded with and without dropped parts.
func TestDroppingChangesNothingElse(t *testing.T) {
	whole := mustCodec(t, Options{}, newPod)
	slim := mustCodec(t, Options{DropAnnotations: []string{"dropped"}}, newPod)
	check := func(data string) {
		t.Helper()
		var want, got Item
		decoderOf(whole, false).item([]byte(data), &want)
		decoderOf(slim, false).item([]byte(data), &got)
		if (want.err == nil) != (got.err == nil) || want.err == nil && !cmp.Equal(want.Object, got.Object) {
			t.Errorf("%.300s\nwhole: %v, %+v\nslim: %v, %+v", data, want.err, want.Object, got.err, got.Object)
		}
	}
	check(podtest.Large(1))
	for _, name := range []string{"kind", "apiVersion", "metadata", "Metadata", "spec", "Spec", "labels", "managedFields"} {
		for _, value := range trickyValues {
			check(fmt.Sprintf(`{"%s":%s}`, name, value))
			check(fmt.Sprintf(`{"%s":{},"%s":%s}`, name, name, value))
		}
	}
	for f := range jsonNames(metav1.ObjectMeta{}) {
		for _, value := range trickyValues {
			check(fmt.Sprintf(`{"metadata":{"%s":%s}}`, f, value))
			check(fmt.Sprintf(`{"metadata":{"%s":%s,"name":"x"},"metadata":{"%s":%s}}`, f, value, f, `{"x":"y"}`))
		}
	}
}

func jsonNames(v any) map[string]any {
	names := map[string]any{}
	for _, name := range []string{"managedFields", "annotations", "labels", "creationTimestamp", "deletionTimestamp", "ownerReferences", "finalizers", "generation", "uid", "deletionGracePeriodSeconds", "namespace"} {
		names[name] = v
	}
	return names
}

// TestDroppedManagedFieldsAllocateNothing compares objects with and without managedFields.
func TestDroppedManagedFieldsAllocateNothing(t *testing.T) {
	for _, f := range allFormats {
		for name, newObject := range map[string]func() object.Object{"typed": newPod, "untyped": newUntyped} {
			if f == Protobuf && name == "untyped" {
				continue
			}
			with := podWithManagedFields(t)
			without := with.DeepCopy()
			without.ManagedFields = nil
			count := func(p *corev1.Pod) float64 {
				c := mustCodec(t, Options{DropManagedFields: true}, newObject)
				body := bytes.Repeat(podtest.EncodeEvent(t, f, "ADDED", p), 50)
				return testing.AllocsPerRun(5, func() {
					w := watchReader{stream: newStream(context.Background(), c, io.NopCloser(bytes.NewReader(body)), f), deliver: func(*Item) error { return nil }}
					if err := w.read(); err != nil {
						t.Fatal(err)
					}
				})
			}
			// one allocation per object for the field's name, and a few per stream for its buffers
			if a, b := count(with), count(without); a > b+50+25 {
				t.Errorf("%v, %s: decoding allocates %v times with managedFields, %v times without", f, name, a, b)
			}
		}
	}
}

// fieldsV1 replaces metav1.NewFieldsV1, which the oldest supported apimachinery lacks.
func fieldsV1(raw string) *metav1.FieldsV1 {
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(raw)); err != nil {
		panic(err)
	}
	return fields
}
