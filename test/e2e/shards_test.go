// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
)

// Three replicas share the work by the objects' UIDs: each object is in exactly one of them, with
// all its events, whether the server divides its answers or ignores the selector.
func TestShardsHaveEachObjectOnce(t *testing.T) {
	t.Parallel()
	dividing := newCluster(t, "--feature-gates", "ShardedListAndWatch=true")
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Run("the server divides", func(t *testing.T) { shardsHaveEachObjectOnce(t, dividing, opts) })
			t.Run("the server does not", func(t *testing.T) { shardsHaveEachObjectOnce(t, shared, opts) })
		})
	}
}

func shardsHaveEachObjectOnce(t *testing.T, c *cluster, opts []informer.Option) {
	ns := c.crates(t)
	ns.createMany(t, 30)
	f := factories.New(connect(t, c.url), append(opts, informer.WithNamespace(ns.namespace))...)
	bounds := []string{"0x0000000000000000", "0x5000000000000000", "0xa000000000000000", "0x10000000000000000"}
	var selectors []sharding.Selector
	var shards []*informer.SharedIndexInformer[*Crate]
	var histories []*history[*Crate]
	for n := range 3 {
		selector := sharding.NewSelector(sharding.ShardRangeRequirement{Key: "object.metadata.uid", Start: bounds[n], End: bounds[n+1]})
		i := factories.For[*Crate](f, crates, informer.WithShardSelector(selector.String()))
		h, _ := listen(t, i)
		selectors, shards, histories = append(selectors, selector), append(shards, i), append(histories, h)
	}
	runSynced(t, f)
	for n := range 30 {
		switch name := fmt.Sprintf("crate-%03d", n); n % 3 {
		case 0:
			ns.load(t, name, int64(n+1))
		case 1:
			ns.delete(t, name)
			ns.create(t, crate(name)) // with another UID, in another shard perhaps
		}
	}
	whole := ns.state(t)
	for n, i := range shards {
		want := state{}
		for key, u := range ns.objects(t) {
			if matches, err := selectors[n].Matches(u); err != nil {
				t.Fatal(err)
			} else if matches {
				want.put(u)
				delete(whole, key)
			}
		}
		served := ns.state(t, metav1.ListOptions{ShardSelector: selectors[n].String()})
		if divides := maps.Equal(want, served); divides != (c != shared) {
			t.Fatalf("the server sends %d objects of shard %d, which has %d: this test shows little", len(served), n, len(want))
		}
		agree(t, want, histories[n], i.Store())
	}
	if len(whole) > 0 {
		t.Errorf("in no shard: %v", whole)
	}
}
