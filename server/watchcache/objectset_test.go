// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"maps"
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
	now := objectSetOf(nil)
	searches := 0
	check := func(s objectSet, objects []*Object, f Filter) {
		t.Helper()
		filter, err := f.compile()
		if err != nil {
			t.Fatal(err)
		}
		from := [...]string{"", "a/10", "a/20\x00", "b/15", "c"}[random.IntN(5)]
		var got, want []*Object
		s.from(filter, from, func(o *Object) bool { got = append(got, o); return true })
		least, to := filter.bounds()
		by := s.search(filter, max(from, least), to)
		for _, o := range objects {
			switch {
			case o.Key < max(from, least) || to != "" && o.Key >= to:
			case by == "", o.Fields.Get("spec.node") == "n1":
				want = append(want, o)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v from %q by %q: got %d objects, want %d", f, from, by, len(got), len(want))
		}
		if by != "" {
			searches++
		}
	}
	filters := func(s objectSet, objects []*Object) {
		node := fields.AndSelectors(fields.OneTermNotEqualSelector("spec.x", "y"), fields.OneTermEqualSelector("spec.node", "n1"))
		app := labels.SelectorFromValidatedSet(labels.Set{"app": "n1"})
		for _, namespace := range []string{"", "a"} {
			check(s, objects, Filter{Namespace: namespace, Fields: node})
			check(s, objects, Filter{Namespace: namespace, Labels: app})
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
		again := objectSetOf(k.objects)
		filters(again, k.objects)
		wantSameIndexes(t, k.state, again)
	}
	if searches == 0 {
		t.Error("no searches by the index")
	}
	for o := range now.objects.All {
		same := *o.Object
		if changed := now.put(&same); changed.fields != now.fields {
			t.Error("an update that changes no value has changed the index")
		}
		break
	}
}

// wantSameIndexes checks that two states have indexes with the same entries.
func wantSameIndexes(t *testing.T, a, b objectSet) {
	t.Helper()
	if !slices.Equal(slices.Collect(a.fields.All), slices.Collect(b.fields.All)) {
		t.Error("the indexes of fields differ")
	}
}

// inOrder returns the objects of a map in the order of their keys.
func inOrder(m map[string]*Object) (objects []*Object) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		objects = append(objects, m[key])
	}
	return objects
}
