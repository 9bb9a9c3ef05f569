// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/lister"
)

// TestReadingAllocatesNothing checks that reads allocate nothing per object. The lister of a
// namespace is one allocation. A loop over All has a few, a loop over All of a Snapshot none.
func TestReadingAllocatesNothing(t *testing.T) {
	var objs []*thing
	for i := range 200 {
		objs = append(objs, named("ns", fmt.Sprint(i)))
	}
	resource := lister.New(newStore(t, objs...), resource)
	listers := []lister.Lister[*thing]{resource} // not devirtualized
	inNamespace := func(namespace string) lister.NamespaceLister[*thing] { return resource.Namespace(namespace) }
	n := 0
	for _, tc := range []struct {
		name  string
		limit float64
		read  func()
	}{
		{"Get", 1, func() {
			if _, err := resource.Namespace("ns").Get("7"); err == nil {
				n++
			}
		}},
		{"Get through an interface", 1, func() {
			if _, err := inNamespace("ns").Get("7"); err == nil {
				n++
			}
		}},
		{"All", 4, func() {
			for range resource.All() {
				n++
			}
		}},
		{"All of a namespace", 5, func() {
			for range resource.Namespace("ns").All() {
				n++
			}
		}},
		{"All through an interface", 4, func() {
			for range listers[0].All() {
				n++
			}
		}},
		{"All of a Snapshot through an interface", 0, func() {
			for range listers[0].Snapshot().All() {
				n++
			}
		}},
	} {
		n = 0
		if allocs := testing.AllocsPerRun(10, tc.read); allocs > tc.limit || n == 0 {
			t.Errorf("%s allocates %v times, want at most %v, and finds %d objects", tc.name, allocs, tc.limit, n)
		}
	}
}
