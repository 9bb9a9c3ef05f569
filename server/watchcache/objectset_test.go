// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// TestStateYieldsWhatAFilterMaySelect changes objects at random, and shows that each state yields
// all that a filter selects, from a key on, in order, also after it has been followed by others. A
// state that searches by a value yields no other objects.
func TestStateYieldsWhatAFilterMaySelect(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := []string{"", "n", "n1", "n1\x00x", "n2", "n3", "n4", "n5", "n6"}
	has := map[string]*Object{}
	now := objectSetOf(nil, labelIndexes{{label: "app"}, {label: "none"}})
	searches := map[string]int{}
	check := func(s objectSet, objects []*Object, f Filter) {
		t.Helper()
		filter, err := f.compile()
		if err != nil {
			t.Fatal(err)
		}
		from := [...]string{"", "a/10", "a/20\x00", "b/15", "c"}[random.IntN(5)]
		var got, want []*Object
		by := s.from(filter, from, func(o *Object) bool { got = append(got, o); return true })
		for _, o := range objects {
			least, to := filter.bounds()
			switch {
			case o.Key < max(from, least) || to != "" && o.Key >= to:
			case !by.indexed, by.label == "" && o.Fields.Get("spec.node") == "n1", by.label == "app" && o.Labels.Get("app") == "n1":
				want = append(want, o)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v from %q by %q: got %d objects, want %d", f, from, by.prefix, len(got), len(want))
		}
		if by.indexed {
			searches[by.label]++
		}
	}
	filters := func(s objectSet, objects []*Object) {
		node := fields.AndSelectors(fields.OneTermNotEqualSelector("spec.x", "y"), fields.OneTermEqualSelector("spec.node", "n1"))
		app := labels.SelectorFromValidatedSet(labels.Set{"app": "n1", "x": "x"})
		none := labels.SelectorFromValidatedSet(labels.Set{"none": "n1"})
		for _, namespace := range []string{"", "a"} {
			check(s, objects, Filter{Namespace: namespace, Fields: node})
			check(s, objects, Filter{Namespace: namespace, Labels: app})
			check(s, objects, Filter{Namespace: namespace, Labels: none})
			check(s, objects, Filter{Namespace: namespace, Labels: app, Fields: node})
		}
	}
	type earlier struct {
		state   objectSet
		objects []*Object
	}
	var kept []earlier
	for step := range 3000 {
		key := fmt.Sprintf("%c/%d", 'a'+random.IntN(2), random.IntN(40))
		if random.IntN(3) == 0 {
			now = now.remove(key)
			delete(has, key)
		} else {
			o := &Object{Key: key, Version: uint64(step), Fields: Pairs{{"spec.node", values[random.IntN(len(values))]}, {"spec.x", "x"}}}
			if random.IntN(8) > 0 {
				o.Labels = Pairs{{"app", values[random.IntN(len(values))]}, {"x", "x"}}
			}
			now = now.put(o)
			has[key] = o
		}
		if step%100 == 0 {
			kept = append(kept, earlier{now, inOrder(has)})
		}
	}
	for _, k := range kept {
		filters(k.state, k.objects)
		again := objectSetOf(k.objects, k.state.labels)
		filters(again, k.objects)
		wantSameIndexes(t, k.state, again)
	}
	if searches[""] == 0 || searches["app"] == 0 || searches["none"] == 0 {
		t.Errorf("searches by index: %v, want some by the field and by each label", searches)
	}
	now.objects.from("", func(o *Object) bool {
		same := *o
		if changed := now.put(&same); changed.fields != now.fields || &changed.labels[0] != &now.labels[0] {
			t.Error("an update that changes no value has changed an index")
		}
		return false
	})
}

// wantSameIndexes checks that two states have indexes with the same entries.
func wantSameIndexes(t *testing.T, a, b objectSet) {
	t.Helper()
	entries := func(index tree[indexEntry]) (all []indexEntry) {
		index.from("", func(e indexEntry) bool { all = append(all, e); return true })
		return all
	}
	if !slices.Equal(entries(a.fields), entries(b.fields)) {
		t.Error("the indexes of fields differ")
	}
	if len(a.labels) != len(b.labels) || a.labels.memory() != b.labels.memory() {
		t.Fatalf("%d indexes of labels take %d bytes, want %d and %d", len(a.labels), a.labels.memory(), len(b.labels), b.labels.memory())
	}
	for i := range a.labels {
		if a.labels[i].label != b.labels[i].label || !slices.Equal(entries(a.labels[i].entries), entries(b.labels[i].entries)) {
			t.Errorf("the indexes of label %q differ", a.labels[i].label)
		}
	}
}
