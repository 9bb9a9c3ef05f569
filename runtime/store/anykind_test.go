// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestUntypedReads compares a typed view of a table with a view of object.Object, as an informer of
// any kind has it.
func TestUntypedReads(t *testing.T) {
	one, other := newThing("ns", "one", "n1"), newThing("else", "other", "n2")
	tab, err := table.New()
	if err != nil {
		t.Fatal(err)
	}
	x := tab.Begin()
	x.Set(one)
	x.Set(other)
	x.Publish()
	if obj, ok := store.View[*thing](tab).Snapshot().Get(object.KeyOf(one)); !ok || obj != one {
		t.Errorf("typed view: Get(one) = %v, %t", obj, ok)
	}
	v := store.View[object.Object](tab).Snapshot()
	if obj, ok := v.Get(object.KeyOf(one)); !ok || obj != one {
		t.Errorf("Get(one) = %v, %t", obj, ok)
	}
	if obj, ok := v.Get(object.Key{Name: "none"}); ok || obj != nil {
		t.Errorf("Get(none) = %v, %t, want nil, false", obj, ok)
	}
	names := func(objects []object.Object) (all []string) {
		for _, obj := range objects {
			all = append(all, obj.GetName())
		}
		slices.Sort(all)
		return all
	}
	for method, got := range map[string][]object.Object{
		"All": slices.Collect(v.All()), "List": v.List("", nil), "Select": slices.Collect(v.Select(labels.Everything())),
	} {
		if all := names(got); !slices.Equal(all, []string{"one", "other"}) {
			t.Errorf("%s returns %q, want one and other", method, all)
		}
	}
	for method, got := range map[string][]object.Object{"Namespace": slices.Collect(v.Namespace("else")), "List": v.List("else", nil)} {
		if all := names(got); !slices.Equal(all, []string{"other"}) {
			t.Errorf("%s of one namespace returns %q, want other", method, all)
		}
	}
	if got := v.List("", labels.Nothing()); got == nil || len(got) != 0 {
		t.Errorf("List of labels.Nothing() = %v, want an empty slice", got)
	}
	for range v.All() {
		break // stopping early must not panic
	}
}
