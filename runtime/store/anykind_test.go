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

// TestReadsOfAnyKind: a view of objects of no certain type reads what a typed one of the same table
// does, as an informer of all kinds and one of a kind do.
func TestReadsOfAnyKind(t *testing.T) {
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
		t.Errorf("Get of a typed one: %v, %t", obj, ok)
	}
	v := store.View[object.Object](tab).Snapshot()
	if obj, ok := v.Get(object.KeyOf(one)); !ok || obj != one {
		t.Errorf("Get: %v, %t", obj, ok)
	}
	if obj, ok := v.Get(object.Key{Name: "none"}); ok || obj != nil {
		t.Errorf("Get of nothing: %v, %t", obj, ok)
	}
	names := func(objects []object.Object) (all []string) {
		for _, obj := range objects {
			all = append(all, obj.GetName())
		}
		slices.Sort(all)
		return all
	}
	for what, got := range map[string][]object.Object{
		"All": slices.Collect(v.All()), "List": v.List("", nil), "Select": slices.Collect(v.Select(labels.Everything())),
	} {
		if all := names(got); !slices.Equal(all, []string{"one", "other"}) {
			t.Errorf("%s: %q", what, all)
		}
	}
	for what, got := range map[string][]object.Object{"Namespace": slices.Collect(v.Namespace("else")), "List": v.List("else", nil)} {
		if all := names(got); !slices.Equal(all, []string{"other"}) {
			t.Errorf("%s of one namespace: %q", what, all)
		}
	}
	if got := v.List("", labels.Nothing()); got == nil || len(got) != 0 {
		t.Errorf("List of nothing: %v", got)
	}
	for range v.All() {
		break // a loop may stop
	}
}
