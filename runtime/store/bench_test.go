// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

const benchObjects = 100_000

// byTeam gives every object two keys, as an index over a list does.
var byTeam = store.NewIndex("ByTeam", func(obj *thing, keys []string) []string {
	return append(keys, obj.Labels["team"], "all")
})

// byPeer counts within a namespace.
var byPeer = store.NewIndex("ByPeer", func(obj *thing, keys []store.NamespacedKey[string]) []store.NamespacedKey[string] {
	return append(keys, store.NamespacedKey[string]{Namespace: obj.Namespace, Key: obj.Labels["node"]})
})

func filled(b *testing.B, indexes ...store.AnyIndex[*thing]) (*store.Store[*thing], []*thing) {
	objs := make([]*thing, benchObjects)
	for i := range objs {
		objs[i] = newThing(fmt.Sprint("namespace-", i%100), fmt.Sprint("name-", i), fmt.Sprint("node-", i%1000))
		objs[i].Labels["team"] = fmt.Sprint("team-", i%100)
	}
	s := mustNew(b, indexes...)
	put(b, s, objs...)
	return s, objs
}

// BenchmarkUpdate replaces one object by its copy and publishes: one single-valued index, one with
// two keys.
func BenchmarkUpdate(b *testing.B) {
	s, objs := filled(b, byNode, byTeam)
	copies := make([]*thing, len(objs))
	for i, obj := range objs {
		updated := *obj
		copies[i] = &updated
	}
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		obj := [][]*thing{objs, copies}[i%2][r.IntN(len(objs))]
		if err := s.Update(func(x *store.Txn[*thing]) error { return x.Set(obj) }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead has one benchmark for each way to read 100,000 objects in 100 namespaces on 1,000
// nodes.
func BenchmarkRead(b *testing.B) {
	s, objs := filled(b, byNode)
	indexed, _ := filled(b, byTeam, byPeer)
	key := object.KeyOf(objs[77])
	selector := labels.SelectorFromSet(labels.Set{"team": "team-7"})
	unequal, err := labels.Parse("team!=team-7,team")
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for _, bc := range []struct {
		name string
		read func()
	}{
		{"Get", func() { s.Snapshot().Get(key) }},
		{"All", func() {
			for range s.Snapshot().All() {
				n++
			}
		}},
		{"List", func() { n += len(s.Snapshot().List("", nil)) }},
		{"ListNamespace", func() { n += len(s.Snapshot().List("namespace-7", nil)) }},
		{"SelectOneInHundred", func() {
			for range s.Snapshot().Select(selector) {
				n++
			}
		}},
		{"SelectMost", func() { // by requirements of which signatures say nothing
			for range s.Snapshot().Select(unequal) {
				n++
			}
		}},
		{"Lookup", func() {
			for range byNode.Lookup(s.Snapshot(), "node-7") {
				n++
			}
		}},
		{"LookupIn", func() { // of 100 objects on the node, all 100 are in the namespace
			for range byNode.LookupIn(s.Snapshot(), "namespace-7", "node-7") {
				n++
			}
		}},
		{"LookupInNone", func() {
			for range byNode.LookupIn(s.Snapshot(), "namespace-8", "node-7") {
				n++
			}
		}},
		{"LookupInOfMany", func() { // all objects have the key, 1,000 are in the namespace
			for range byTeam.LookupIn(indexed.Snapshot(), "namespace-7", "all") {
				n++
			}
		}},
		{"LookupNamespacedKey", func() {
			for range byPeer.Lookup(indexed.Snapshot(), store.NamespacedKey[string]{Namespace: "namespace-7", Key: "node-7"}) {
				n++
			}
		}},
		{"LookupWithoutIndex", func() {
			for range byTeam.Lookup(s.Snapshot(), "team-7") {
				n++
			}
		}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bc.read()
			}
		})
	}
}
