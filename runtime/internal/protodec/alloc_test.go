// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// TestDecodeAllocatesOnlyTheObject compares the number of allocations with that of an object's
// parts.
func TestDecodeAllocatesOnlyTheObject(t *testing.T) {
	p, err := New(reflect.TypeFor[corev1.Pod](), dropped.Parts{ManagedFields: true})
	if err != nil {
		t.Fatal(err)
	}
	pods := podsOf(t, 400, false)
	decodeAll := func(d *Decoder) float64 {
		for _, data := range pods {
			// fills the decoder's scratch memory and the table
			d.Decode(data, layout.Of(&corev1.Pod{}))
		}
		i := 0
		return testing.AllocsPerRun(len(pods)-1, func() {
			if !d.Decode(pods[i], layout.Of(&corev1.Pod{})) {
				t.Fatal("Decode declines the object")
			}
			i++
		})
	}
	pod := &corev1.Pod{}
	if err := pod.Unmarshal(pods[0]); err != nil {
		t.Fatal(err)
	}
	pod.ManagedFields = nil
	// the Pod, its references, its name and namespace, and the other strings in at most two blocks
	kept := 1 + references(reflect.ValueOf(pod).Elem()) + 4
	if got := decodeAll(p.NewDecoder(nil, false)); got > float64(kept) {
		t.Errorf("alone: Decode allocates %v times, want at most %d", got, kept)
	}
	// Unshared are the Pod, its volumes, containers, mounts, conditions, statuses, start times, IPs
	// and strings, and parts that have not repeated yet.
	if got := decodeAll(p.NewDecoder(share.New(4<<20), true)); got > 17 {
		t.Errorf("shared: Decode allocates %v times, want at most 17", got)
	}
}

// references counts the allocations a value refers to, except strings.
func references(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() {
			return 0
		}
		for i := range v.NumField() {
			n += references(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n = 1 + references(v.Elem())
		}
	case reflect.Slice:
		if v.Len() > 0 {
			n = 1
		}
		for i := range v.Len() {
			n += references(v.Index(i))
		}
	case reflect.Map:
		if v.Len() > 0 {
			n = 2 // the map and its first group
		}
	}
	return n
}
