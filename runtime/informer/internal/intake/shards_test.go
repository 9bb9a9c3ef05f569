// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestSelectorOfUIDs shows that a selector selects the objects of its buckets, for any set of them.
func TestSelectorOfUIDs(t *testing.T) {
	for range 300 {
		p := partition.Partition{By: partition.ByUID, Buckets: 1 << rand.IntN(8)}
		buckets := partition.SetOf(p.Buckets, func(int) bool { return rand.IntN(3) > 0 })
		selector := selectorOfUIDs(buckets, p.Buckets)
		s, err := shard.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 200 {
			uid := types.UID(fmt.Sprint(n, "-", rand.Uint64()))
			if in := buckets.Has(p.BucketOf(object.Meta{UID: uid})); selector != "" && s.Has(string(uid), "") != in {
				t.Fatalf("%q has %s: %v, want %v", selector, uid, !in, in)
			}
		}
		if (selector == "") != (buckets.Len() == p.Buckets || buckets.IsEmpty()) {
			t.Errorf("%d of %d buckets: %q", buckets.Len(), p.Buckets, selector)
		}
	}
	if selector := selectorOfUIDs(partition.SetOf(256, func(b int) bool { return b%2 == 0 }), 256); selector != "" {
		t.Errorf("a selector of 128 ranges has %d bytes", len(selector))
	}
}
