// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/lister"
)

// TestReadingAllocatesNothing per object. The lister of a namespace is one allocation, and a loop
// over All allocates a little, unless it is that of a Snapshot.
func TestReadingAllocatesNothing(t *testing.T) {
	var objs []*thing
	for i := range 200 {
		objs = append(objs, named("ns", fmt.Sprint(i)))
	}
	resource := lister.New(newStore(t, objs...), resource)
	held := []lister.Lister[*thing]{resource}
	inNamespace := func(namespace string) lister.NamespaceLister[*thing] { return resource.Namespace(namespace) }
	n := 0
	for _, tc := range []struct {
		what string
		most float64
		read func()
	}{
		{"Get", 1, func() {
			if _, err := resource.Namespace("ns").Get("7"); err == nil {
				n++
			}
		}},
		{"Get by an interface", 1, func() {
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
		{"All by an interface", 4, func() {
			for range held[0].All() {
				n++
			}
		}},
		{"All of a Snapshot by an interface", 0, func() {
			for range held[0].Snapshot().All() {
				n++
			}
		}},
	} {
		n = 0
		if allocs := testing.AllocsPerRun(10, tc.read); allocs > tc.most || n == 0 {
			t.Errorf("%s: %v allocations, want %v; found %d", tc.what, allocs, tc.most, n)
		}
	}
}
