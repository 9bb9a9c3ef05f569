// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

// TestListAgreesWithSelectorMatches lists random objects by random selectors, repeatedly while they
// change, and compares the results with Matches of each object.
func TestListAgreesWithSelectorMatches(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	keys, values := []string{"a", "b", "example.com/c", "d"}, []string{"", "1", "2", "10", "x"}
	object := func() *thing {
		obj := newThing(fmt.Sprint("ns", r.IntN(3)), fmt.Sprint(r.IntN(400)), "node")
		obj.Labels = map[string]string{}
		for range r.IntN(4) {
			obj.Labels[pick(keys...)] = pick(values...)
		}
		if r.IntN(5) == 0 {
			obj.Labels = nil
		}
		return obj
	}
	selector := func() labels.Selector {
		var parts []string
		for range 1 + r.IntN(3) {
			key, list := pick(keys...), pick("1", "2", "x")
			// older versions of apimachinery refuse two adjacent empty values
			switch r.IntN(3) {
			case 0:
				list += "," + pick(values...)
			case 1:
				list = pick(values...) + "," + list + "," + pick(values...)
			}
			parts = append(parts, pick(
				key+"="+pick(values...), key+"=="+pick(values...), key+"!="+pick(values...), key+" in ("+list+")",
				key+" notin ("+list+")", key, "!"+key, key+">1", key+"<9"))
		}
		s, err := labels.Parse(strings.Join(parts, ","))
		if err != nil {
			t.Fatal(err)
		}
		switch r.IntN(12) {
		case 0:
			return customSelector{s}
		case 1:
			return labels.Set{pick(keys...): pick(values...), pick(keys...): pick(values...)}.AsSelector()
		case 2:
			return labels.ValidatedSetSelector{pick(keys...): pick(values...)}
		case 3:
			return labels.Nothing()
		}
		return s
	}
	var selectors []labels.Selector
	for range 60 {
		selectors = append(selectors, selector())
	}
	s := mustNew(t)
	for range 40 {
		for range 30 {
			put(t, s, object())
		}
		snapshot := s.Snapshot()
		for _, selector := range selectors {
			for _, namespace := range []string{"", "ns1"} {
				want, got := map[*thing]bool{}, map[*thing]bool{}
				for obj := range snapshot.All() {
					if selector.Matches(labels.Set(obj.Labels)) && (namespace == "" || obj.Namespace == namespace) {
						want[obj] = true
					}
				}
				list := snapshot.List(namespace, selector)
				for _, obj := range list {
					got[obj] = true
				}
				if !maps.Equal(got, want) || len(list) != len(want) {
					t.Fatalf("seed %d: List(%q, %q) returns %d objects, want %d", seed, namespace, selector, len(list), len(want))
				}
				if namespace == "" && len(slices.Collect(snapshot.Select(selector))) != len(want) {
					t.Fatalf("seed %d: Select(%q) yields another number of objects than List", seed, selector)
				}
			}
		}
	}
}

// customSelector matches more than its Requirements allow: also objects without labels.
type customSelector struct{ labels.Selector }

func (f customSelector) Matches(of labels.Labels) bool {
	set, _ := of.(labels.Set)
	return len(set) == 0 || f.Selector.Matches(of)
}
