// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
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

// TestSourceKnowsWhetherShardsAreHonored asks for shards by UIDs and for up to 400 namespaces, in
// both formats. The source hands over the same objects from both servers. Lists of metadata don't
// echo the selector.
func TestSourceKnowsWhetherShardsAreHonored(t *testing.T) {
	t.Parallel()
	shardingCluster := newCluster(t, "--feature-gates", "ShardedListAndWatch=true")
	builtIn := newCluster(t, "--feature-gates", "ShardedListAndWatch=true", "--built-in-kinds")
	many := func(names ...string) string {
		for n := range 399 {
			names = append(names, fmt.Sprintf("team-%03d", n))
		}
		return shard.ByNamespace(names...)
	}
	for _, c := range []*cluster{shardingCluster, shared} {
		ns, other := c.crates(t), c.crates(t)
		ns.createMany(t, 3)
		other.createMany(t, 2)
		for _, format := range []source.Format{source.JSON, source.Protobuf} {
			src, err := source.New[*metav1.PartialObjectMetadata](connect(t, c.url), crates, source.Options{Formats: []source.Format{format}})
			if err != nil {
				t.Fatal(err)
			}
			for selector, want := range map[string]int{
				shard.ByUID(shard.Range{Last: math.MaxUint64}): 5, shard.ByUID(): 0,
				shard.ByNamespace(ns.namespace): 3, many(other.namespace): 2, shard.ByNamespace("none"): 0,
			} {
				checkShardOf(t, src, selector, []string{ns.namespace, other.namespace}, want, c != shared)
			}
			for selector, want := range map[string]bool{shard.ByUID(shard.Range{Last: math.MaxUint64}): true, many("default"): true, "": false} {
				checkEcho(t, builtIn, format, selector, want)
			}
		}
	}
}

// checkEcho lists a built-in kind. An API server echoes the selector.
func checkEcho(t *testing.T, c *cluster, format source.Format, selector string, want bool) {
	t.Helper()
	src, err := source.New[*corev1.ConfigMap](connect(t, c.url), corev1.SchemeGroupVersion.WithResource("configmaps"), source.Options{Formats: []source.Format{format}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := src.List(t.Context(), source.ListOptions{ShardSelector: selector}, func(*corev1.ConfigMap) error { return nil })
	if err != nil || result.Sharded != want {
		t.Errorf("%v, %.100s: got %+v, %v, want sharded %v", format, selector, result, err, want)
	}
}

// checkShardOf counts the objects of a shard in the namespaces, by a list and by a watch-list.
func checkShardOf(t *testing.T, src *source.HTTP[*metav1.PartialObjectMetadata], selector string, namespaces []string, want int, honored bool) {
	t.Helper()
	keep := func(m object.Meta) bool { return slices.Contains(namespaces, m.Namespace) }
	listed, watched := 0, 0
	result, err := src.List(t.Context(), source.ListOptions{ShardSelector: selector, Keep: keep}, func(*metav1.PartialObjectMetadata) error { listed++; return nil })
	if err != nil || listed != want || result.Sharded {
		t.Errorf("%.100s: got %d objects and %+v, %v; want %d", selector, listed, result, err, want)
	}
	if got, err := source.HonorsShards(t.Context(), src, selector); got != honored || err != nil {
		t.Errorf("%.100s: HonorsShards = %v, %v, want %v", selector, got, err, honored)
	}
	errEnd := errors.New("the initial events end")
	err = src.Watch(t.Context(), source.WatchOptions{SendInitialEvents: true, ShardSelector: selector, Keep: keep}, nil, func(e source.Event[*metav1.PartialObjectMetadata]) error {
		switch {
		case e.InitialEventsEnd:
			return errEnd
		case e.Type == source.Added:
			watched++
		}
		return nil
	})
	if err != errEnd || watched != want {
		t.Errorf("%.100s: a watch-list has %d objects, %v, want %d", selector, watched, err, want)
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
