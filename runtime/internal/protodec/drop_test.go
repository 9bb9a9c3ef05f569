// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// TestDroppedPartsAreMissing drops managedFields and annotations of the object, but not those of
// the template in it.
func TestDroppedPartsAreMissing(t *testing.T) {
	annotations := map[string]bool{"drop/one": true, "drop/two": true}
	for _, drop := range []dropped.Parts{{ManagedFields: true}, {Annotations: annotations}, {ManagedFields: true, Annotations: annotations}} {
		p, err := New(reflect.TypeFor[corev1.PodTemplate](), drop)
		if err != nil {
			t.Fatal(err)
		}
		d := p.NewDecoder(share.New(1<<20), true)
		for range 3 {
			for i, all := range []map[string]string{
				nil, {"a": "b"}, {"drop/one": "1"}, {"drop/one": "1", "drop/two": "2"}, {"a": "b", "drop/two": "2", "c": "d"},
			} {
				managed := []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: podtest.FieldsV1("{}")}, {Manager: "n"}}
				in := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "t", Annotations: all, ManagedFields: managed}}
				in.Template.ObjectMeta = metav1.ObjectMeta{Annotations: all, ManagedFields: managed}
				data, err := in.Marshal()
				if err != nil {
					t.Fatal(err)
				}
				want := in.DeepCopy()
				if drop.ManagedFields {
					want.ManagedFields = nil
				}
				maps.DeleteFunc(want.Annotations, func(key, _ string) bool { return drop.Annotations[key] })
				if len(want.Annotations) == 0 {
					want.Annotations = nil
				}
				got := &corev1.PodTemplate{}
				if !d.Decode(data, layout.Of(got)) {
					t.Fatal("Decode declines the object")
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("annotations %d without %+v: Decode = %+v, want %+v", i, drop, got, want)
				}
			}
		}
	}
}

func TestDropNeedsMetadata(t *testing.T) {
	if p, err := New(reflect.TypeFor[corev1.EnvVar](), dropped.Parts{ManagedFields: true}); err == nil {
		t.Errorf("New = %v for dropped parts of a type without metadata, want an error", p)
	}
}

// identifies reports whether id is the identity of a Pod.
func identifies(id *Identity, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		owner = &metav1.OwnerReference{}
	}
	c := &id.Controller
	return string(id.Name) == pod.Name && string(id.Namespace) == pod.Namespace && string(id.UID) == string(pod.UID) && string(id.ResourceVersion) == pod.ResourceVersion &&
		c.IsController == (owner.Controller != nil) &&
		string(c.APIVersion) == owner.APIVersion && string(c.Kind) == owner.Kind && string(c.Name) == owner.Name && string(c.UID) == string(owner.UID)
}

func TestReadIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for i := range 50 {
		in := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("name", i), Labels: map[string]string{"a": "b"}}}
		if i%2 == 0 {
			in.Namespace, in.UID, in.ResourceVersion = "ns", "uid", fmt.Sprint(i)
		}
		f := podtest.Filler{R: r, Full: 0.7}
		f.Fill(reflect.ValueOf(&in.Spec).Elem())
		if i%3 > 0 {
			f.Fill(reflect.ValueOf(&in.OwnerReferences).Elem())
		}
		data, err := in.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		id, ok := ReadIdentity(data, true)
		if !ok || !identifies(&id, in) {
			t.Fatalf("ReadIdentity = %+v, %v, want that of %v", id, ok, in.ObjectMeta)
		}
		for range 200 {
			bad := mutate(r, data)
			want := &corev1.Pod{}
			err := want.Unmarshal(bad)
			id, ok := ReadIdentity(bad, true)
			if ok && err == nil && !identifies(&id, want) {
				t.Fatalf("ReadIdentity(%x) = %+v, want that of %+v", bad, id, want.ObjectMeta)
			}
		}
	}
}
