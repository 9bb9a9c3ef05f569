// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func storeAll(t *testing.T, c *Codec, objects ...object.Object) (stored []byte) {
	t.Helper()
	for _, obj := range objects {
		var err error
		if stored, err = c.AppendStored(stored, obj); err != nil {
			t.Fatal(err)
		}
	}
	return stored
}

func readStored(c *Codec, stored []byte) (objects []object.Object, err error) {
	err = c.ReadStored(bytes.NewReader(stored), true, func(obj object.Object) error {
		objects = append(objects, obj)
		return nil
	})
	return objects, err
}

func TestStoredObjectsRoundTrip(t *testing.T) {
	filled := &corev1.Pod{}
	(&podtest.Filler{Full: 0.3, R: rand.New(rand.NewPCG(1, 1))}).Fill(reflect.ValueOf(filled).Elem())
	filled.Name, filled.ResourceVersion, filled.TypeMeta = "filled", "7", metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	small := podtest.LargeObject(t, 3)
	for name, tc := range map[string]struct {
		newObject func() object.Object
		as        Format
		objects   []object.Object
	}{
		"typed": {newPod, Protobuf, []object.Object{filled, small}},
		"metadata": {func() object.Object { return &metav1.PartialObjectMetadata{} }, Protobuf, []object.Object{&metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}, ObjectMeta: small.ObjectMeta,
		}}},
		"projection": {func() object.Object { return newPlacement() }, JSON, []object.Object{&placement.PodPlacement{
			TypeMeta:         metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			PodPlacementMeta: placement.PodPlacementMeta{Name: "slim", ResourceVersion: "3", Labels: map[string]string{"a": "<b>"}},
		}}},
		"untyped": {newUntyped, JSON, []object.Object{&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "x", "resourceVersion": "5"},
			"spec": map[string]any{"n": int64(1) << 60, "f": 1.5, "list": []any{"<&>\u2028", nil, true, map[string]any{}}},
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := mustCodec(t, Options{}, tc.newObject)
			if c.StoredAs() != tc.as {
				t.Errorf("StoredAs() = %v, want %v", c.StoredAs(), tc.as)
			}
			got, err := readStored(c, storeAll(t, c, tc.objects...))
			if err != nil || !equality.Semantic.DeepEqual(got, tc.objects) {
				t.Errorf("read %+v, %v, want %+v", got, err, tc.objects)
			}
			if got, err := readStored(c, nil); err != nil || got != nil {
				t.Errorf("ReadStored of no bytes: %v, %v", got, err)
			}
		})
	}
}

// TestStoringDoesNotChangeAnObject stores an object with a quantity, which caches its text when it
// is encoded. Other goroutines may read the object.
func TestStoringDoesNotChangeAnObject(t *testing.T) {
	newVolume := func() object.Object {
		size := resource.NewMilliQuantity(1500, resource.DecimalSI)
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1"},
			Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{
				EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: size},
			}}}},
		}
	}
	obj, before := newVolume(), newVolume()
	storeAll(t, mustCodec(t, Options{}, newPod), obj)
	if !reflect.DeepEqual(obj, before) {
		t.Error("AppendStored has changed the object")
	}
}

// TestStoredObjectsShareParts stores objects with little but labels. Which parts of a large object
// are shared is chance, because the set of parts seen once forgets some.
func TestStoredObjectsShareParts(t *testing.T) {
	c := mustCodec(t, Options{}, newPod)
	pod := func(name string) object.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, ResourceVersion: "1", Labels: map[string]string{"app": "web", "tier": "frontend"},
		}}
	}
	got, err := readStored(c, storeAll(t, c, pod("first"), pod("second"), pod("third"), pod("fourth")))
	if err != nil || len(got) != 4 {
		t.Fatalf("ReadStored reads %d objects, %v, want 4", len(got), err)
	}
	labels := func(i int) uintptr { return reflect.ValueOf(got[i].GetLabels()).Pointer() }
	if labels(2) != labels(3) {
		t.Error("equal labels are not shared")
	}
}

// TestReadStoredErrors also covers errors of AppendStored and EncodeProtobuf.
func TestReadStoredErrors(t *testing.T) {
	c := mustCodec(t, Options{}, newPod)
	stored := storeAll(t, c, podtest.LargeObject(t, 1), podtest.LargeObject(t, 2))
	wrong := &Error{}
	if got, err := readStored(c, stored[:len(stored)-1]); len(got) != 1 || !errors.As(err, &wrong) || wrong.Item != 2 {
		t.Errorf("cut off: %d objects, %v", len(got), err)
	}
	if _, err := readStored(c, podtest.EncodeEvent(t, Protobuf, "DELETED", podtest.LargeObject(t, 1))); !errors.Is(err, ErrMalformed) {
		t.Errorf("event of another type: got error %v, want ErrMalformed", err)
	}
	if _, err := readStored(c, storeAll(t, c, &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}})); !errors.Is(err, ErrWrongKind) {
		t.Errorf("object of another kind: got error %v, want ErrWrongKind", err)
	}
	mine := errors.New("mine")
	if err := c.ReadStored(bytes.NewReader(stored), true, func(object.Object) error { return mine }); err != mine {
		t.Errorf("failing callback: got error %v, want %v", err, mine)
	}
	if err := c.ReadStored(podtest.BrokenBody(string(stored), mine), true, func(object.Object) error { return nil }); err != mine {
		t.Errorf("failing reader: got error %v, want %v", err, mine)
	}
	large := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"x": strings.Repeat("x", maxItem)}}}
	if _, err := c.AppendStored(nil, large); !errors.Is(err, ErrMalformed) {
		t.Errorf("AppendStored of a large object = %v, want ErrMalformed", err)
	}
	if _, err := EncodeProtobuf(&unstructured.Unstructured{}); err == nil {
		t.Error("EncodeProtobuf accepts an untyped object")
	}
}
