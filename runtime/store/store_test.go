// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/storetest"
)

type thing = metav1.PartialObjectMetadata

var byNode = store.NewIndex("ByNode", func(obj *thing, keys []string) []string { return append(keys, obj.Labels["node"]) })

func newThing(namespace, name, node string) *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"node": node}}}
}

func mustNew(t testing.TB, indexes ...store.AnyIndex[*thing]) *store.Store[*thing] {
	t.Helper()
	s, err := store.New(indexes...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *store.Store[*thing], objs ...*thing) {
	t.Helper()
	if err := s.Update(func(x *store.Txn[*thing]) error {
		for _, obj := range objs {
			if err := x.Set(obj); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestStoreIsAReader(t *testing.T) {
	apply := func(t *testing.T, s *store.Store[*thing]) func([]*thing, []object.Key, string) {
		return func(set []*thing, deleted []object.Key, rv string) {
			if err := s.Update(func(x *store.Txn[*thing]) error {
				for _, obj := range set {
					if err := x.Set(obj); err != nil {
						return err
					}
				}
				for _, key := range deleted {
					x.Delete(key)
				}
				x.SetResourceVersion(rv)
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	}
	for _, tc := range []struct {
		name string
		make func(t *testing.T, indexes []store.AnyIndex[*thing]) *store.Store[*thing]
	}{
		{"indexed", func(t *testing.T, indexes []store.AnyIndex[*thing]) *store.Store[*thing] {
			return mustNew(t, indexes...)
		}},
		{"without indexes", func(t *testing.T, _ []store.AnyIndex[*thing]) *store.Store[*thing] { return mustNew(t) }},
		{"indexes added", func(t *testing.T, indexes []store.AnyIndex[*thing]) *store.Store[*thing] {
			s := mustNew(t)
			if err := s.AddIndexers(indexes...); err != nil {
				t.Error(err)
			}
			return s
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, indexes ...store.AnyIndex[*thing]) storetest.Rig {
				s := tc.make(t, indexes)
				return storetest.Rig{Reader: s, Apply: apply(t, s)}
			})
		})
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	s := mustNew(t, byNode)
	put(t, s, newThing("ns", "a", "n1"))
	before := s.Snapshot()
	wrong := errors.New("wrong")
	err := s.Update(func(x *store.Txn[*thing]) error {
		put := newThing("ns", "b", "n1")
		if err := x.Set(put); err != nil {
			return err
		}
		if got, ok := x.Get(object.KeyOf(put)); !ok || got != put {
			t.Errorf("Get after Set = %v, %v, want the object that was set", got, ok)
		}
		if got, ok := x.Delete(object.Key{Namespace: "ns", Name: "a"}); !ok || got.Name != "a" {
			t.Errorf("Delete = %v, %v", got, ok)
		}
		if got, ok := x.Get(object.Key{Namespace: "ns", Name: "a"}); ok || got != nil {
			t.Errorf("Get after Delete = %v, %v", got, ok)
		}
		x.SetResourceVersion("9")
		return wrong
	})
	if err != wrong {
		t.Errorf("Update = %v, want the function's error", err)
	}
	if s.Snapshot() != before {
		t.Error("a failed Update has changed the store")
	}
	func() {
		defer func() {
			if recover() != "panic" {
				t.Error("the panic did not pass through Update")
			}
		}()
		_ = s.Update(func(x *store.Txn[*thing]) error { x.Delete(object.Key{Namespace: "ns", Name: "a"}); panic("panic") })
	}()
	if s.Snapshot() != before {
		t.Error("an Update that panicked has changed the store")
	}
	put(t, s, newThing("ns", "c", "n1")) // and the store can still be written
	if n := byNode.Len(s.Snapshot(), "n1"); n != 2 {
		t.Errorf("Len(n1) = %d, want 2", n)
	}
}

func TestErrorTexts(t *testing.T) {
	s := mustNew(t, byNode)
	same := store.NewIndex("ByNode", func(_ *thing, keys []int) []int { return keys })
	nothing := func(_ *thing, keys []int) []int { return keys }
	var ended *store.Txn[*thing]
	inUpdate := func(f func(x *store.Txn[*thing]) error) error { return s.Update(f) }
	_, errNew := store.New(store.AnyIndex[*thing](byNode), same)
	for _, tc := range []struct {
		name, want string
		err        error
	}{
		{"nil object", "set *v1.PartialObjectMetadata in store: the object is nil", inUpdate(func(x *store.Txn[*thing]) error {
			ended = x
			return x.Set(nil)
		})},
		{"no name", "set *v1.PartialObjectMetadata in store: the object has no name; set metadata.name",
			inUpdate(func(x *store.Txn[*thing]) error { return x.Set(&thing{}) })},
		{"ended Txn", "set *v1.PartialObjectMetadata in store: the Txn has ended; use it only inside the function that Update calls",
			ended.Set(newThing("", "a", ""))},
		{"two indexes of one name", `add indexes to store: index "ByNode": the table has another index of this name`, s.AddIndexers(same)},
		{"two indexes of one name in New", `new store: index "ByNode": the table has another index of this name`, errNew},
		{"nil index", "add indexes to store: an index is nil", s.AddIndexers(nil)},
		{"nil *Index", "add indexes to store: an index is nil", s.AddIndexers((*store.Index[*thing, int])(nil))},
		{"no key function", `add indexes to store: index "ByX" has no key function; pass one to NewIndex`, s.AddIndexers(store.NewIndex[*thing, int]("ByX", nil))},
		{"index without a name", "add indexes to store: an index has no name", s.AddIndexers(store.NewIndex("", nothing))},
		{"several indexes, one nil", "is nil", s.AddIndexers(store.NewIndex("ByZ", nothing), nil)},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want %q", tc.name, tc.err, tc.want)
		}
	}
	if err := s.AddIndexers(byNode, store.NewIndex("ByZ", nothing)); err != nil {
		t.Errorf("AddIndexers of a known index and of one that failed before = %v", err)
	}
	if _, ok := ended.Get(object.Key{Name: "a"}); ok {
		t.Error("Get of an ended Txn finds an object")
	}
	ended.SetResourceVersion("1")
	if _, ok := ended.Delete(object.Key{Name: "a"}); ok || s.Snapshot().ResourceVersion() != "" || s.Snapshot().Len() != 0 {
		t.Error("an ended Txn has changed the store")
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	type slot struct {
		node  string
		index int
	}
	bySlot := store.NewIndex("BySlot", func(obj *thing, keys []slot) []slot { return append(keys, slot{obj.Labels["node"], len(obj.Name)}) })
	byPeer := store.NewIndex("ByPeer", func(obj *thing, keys []store.NamespacedKey[slot]) []store.NamespacedKey[slot] {
		return append(keys, store.NamespacedKey[slot]{Namespace: obj.Namespace, Key: slot{obj.Labels["node"], len(obj.Name)}})
	})
	s := mustNew(t, byNode, bySlot, byPeer)
	var objs []*thing
	for i := range 5000 {
		objs = append(objs, newThing(fmt.Sprint("ns", i%4), fmt.Sprint(i), fmt.Sprint("node-", i%20)))
	}
	put(t, s, objs...)
	key := object.KeyOf(objs[7])
	selector := labels.SelectorFromSet(labels.Set{"node": "node-3"})
	node := "node-3"
	n := 0
	for name, read := range map[string]func(){
		"Get": func() { s.Snapshot().Get(key) },
		"All": func() {
			for range s.Snapshot().All() {
				n++
			}
		},
		"Namespace": func() {
			for range s.Snapshot().Namespace("ns1") {
				n++
			}
		},
		"Select": func() {
			for range s.Snapshot().Select(selector) {
				n++
			}
		},
		"Lookup": func() {
			for range byNode.Lookup(s.Snapshot(), node) {
				n++
			}
		},
		"Len": func() { n += byNode.Len(s.Snapshot(), node) },
		"LookupIn": func() {
			for range byNode.LookupIn(s.Snapshot(), "ns3", node) {
				n++
			}
		},
		"LookupIn of a struct": func() {
			for range bySlot.LookupIn(s.Snapshot(), "ns3", slot{node, 4}) {
				n++
			}
		},
		"Lookup of a NamespacedKey": func() {
			for range byPeer.Lookup(s.Snapshot(), store.NamespacedKey[slot]{Namespace: "ns3", Key: slot{node, 4}}) {
				n++
			}
		},
	} {
		before := n
		read()
		if allocs := testing.AllocsPerRun(10, read); allocs != 0 {
			t.Errorf("%s allocates %v times, want 0", name, allocs)
		}
		if n == before && name != "Get" {
			t.Errorf("%s finds no objects", name)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() { n += len(byNode.List(s.Snapshot(), node)) }); allocs != 1 {
		t.Errorf("List of an index allocates %v times, want 1", allocs)
	}
	node = "node-7" // 250 objects, of 1,250 in ns3
	if allocs := testing.AllocsPerRun(10, func() { n += len(byNode.ListIn(s.Snapshot(), "ns3", node)) }); allocs > 4 {
		t.Errorf("ListIn of an index allocates %v times, want at most 4 for a slice that grows from 64 to 250", allocs)
	}
	if allocs := testing.AllocsPerRun(10, func() { n += len(bySlot.ListIn(s.Snapshot(), "ns3", slot{node, 1})) }); allocs != 1 {
		t.Errorf("ListIn of one object allocates %v times, want 1", allocs)
	}
	if allocs := testing.AllocsPerRun(10, func() { n += len(s.Snapshot().List("ns1", nil)) }); allocs != 1 {
		t.Errorf("List of a namespace allocates %v times, want 1", allocs)
	}
}

// TestConcurrentUpdates increments a counter in one object by several writers. Readers must never
// see it decrease.
func TestConcurrentUpdates(t *testing.T) {
	s := mustNew(t, byNode)
	put(t, s, newThing("ns", "counter", "n1"))
	key := object.Key{Namespace: "ns", Name: "counter"}
	const writers, times = 4, 200
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range times {
				if err := s.Update(func(x *store.Txn[*thing]) error {
					obj, _ := x.Get(key)
					obj = obj.DeepCopy()
					obj.Generation++
					return x.Set(obj)
				}); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			var last int64
			for last < writers*times/2 {
				obj, _ := s.Snapshot().Get(key)
				if obj.Generation < last {
					t.Errorf("a reader sees the counter go from %d to %d", last, obj.Generation)
					return
				}
				last = obj.Generation
			}
		})
	}
	group.Wait()
	if obj, _ := s.Snapshot().Get(key); obj.Generation != writers*times {
		t.Errorf("the counter is %d, want %d", obj.Generation, writers*times)
	}
}
