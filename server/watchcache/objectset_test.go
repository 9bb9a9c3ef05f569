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

// TestScanYieldsSelectedObjects changes objects at random. Each state must yield all selected
// objects from a key on, in order, also after later changes. A scan of an index must yield only
// objects with its value.
func TestScanYieldsSelectedObjects(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := []string{"", "n", "n1", "n1\x00x", "n2", "n3", "n4", "n5", "n6"}
	objects := map[string]*Object{}
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
		s.scan(filter, from, func(o *Object) bool { got = append(got, o); return true })
		lowest, to := filter.bounds()
		prefix := s.cheapestPrefix(filter, max(from, lowest), to)
		for _, o := range objects {
			switch {
			case o.Key < max(from, lowest) || to != "" && o.Key >= to:
			case prefix == "", o.Fields.Get("spec.node") == "n1":
				want = append(want, o)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("scan(%+v, %q) with the index prefix %q: got %d objects, want %d", f, from, prefix, len(got), len(want))
		}
		if prefix != "" {
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
			delete(objects, key)
		} else {
			o := &Object{Key: key, Version: uint64(step), Fields: Pairs{{"spec.node", values[random.IntN(len(values))]}, {"spec.x", "x"}}}
			if random.IntN(8) > 0 {
				o.Labels = Pairs{{"app", values[random.IntN(len(values))]}, {"x", "x"}}
			}
			now = now.put(o)
			objects[key] = o
		}
		if step%100 == 0 {
			kept = append(kept, earlier{now, inOrder(objects)})
		}
	}
	for _, k := range kept {
		filters(k.state, k.objects)
		rebuilt := objectSetOf(k.objects)
		filters(rebuilt, k.objects)
		wantSameIndexes(t, k.state, rebuilt)
	}
	if searches == 0 {
		t.Error("no scan used the index")
	}
	for o := range now.objects.All {
		same := *o.Object
		if changed := now.put(&same); changed.fields != now.fields {
			t.Error("an update without a changed value has changed the index")
		}
		break
	}
}

// wantSameIndexes expects two states to have equal index entries.
func wantSameIndexes(t *testing.T, a, b objectSet) {
	t.Helper()
	if !slices.Equal(slices.Collect(a.fields.All), slices.Collect(b.fields.All)) {
		t.Error("the field indexes differ")
	}
}

// inOrder returns the objects of a map, sorted by key.
func inOrder(m map[string]*Object) (objects []*Object) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		objects = append(objects, m[key])
	}
	return objects
}
