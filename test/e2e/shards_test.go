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

// TestShardsHaveEachObjectOnce has three replicas share the objects by their UIDs. Each object and
// all its events are in exactly one of them, whether the server honors or ignores the selector.
func TestShardsHaveEachObjectOnce(t *testing.T) {
	t.Parallel()
	shardingCluster := newCluster(t, "--feature-gates", "ShardedListAndWatch=true")
	for name, opts := range listModes {
		t.Run(name, func(t *testing.T) {
			t.Run("honored", func(t *testing.T) { shardsHaveEachObjectOnce(t, shardingCluster, opts) })
			t.Run("ignored", func(t *testing.T) { shardsHaveEachObjectOnce(t, shared, opts) })
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
			ns.setWeight(t, name, int64(n+1))
		case 1:
			ns.delete(t, name)
			ns.create(t, crate(name)) // with another UID, in another shard perhaps
		}
	}
	unassigned := ns.state(t)
	for n, i := range shards {
		want := state{}
		for key, u := range ns.objects(t) {
			if matches, err := selectors[n].Matches(u); err != nil {
				t.Fatal(err)
			} else if matches {
				want.put(u)
				delete(unassigned, key)
			}
		}
		served := ns.state(t, metav1.ListOptions{ShardSelector: selectors[n].String()})
		if honored := maps.Equal(want, served); honored != (c != shared) {
			t.Fatalf("the server sends %d objects for shard %d, which has %d; want it to honor the selector: %t", len(served), n, len(want), c != shared)
		}
		agree(t, want, histories[n], i.Store())
	}
	if len(unassigned) > 0 {
		t.Errorf("objects in no shard: %v", unassigned)
	}
}
