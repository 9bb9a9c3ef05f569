// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

var byNode = cache.Indexers{"node": func(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
}}

// fill fills the store with three Pods and an object without a namespace.
var fill = map[string]func(w *world){
	"running": func(w *world) {
		for _, p := range some() {
			w.pods.Create(p)
		}
		w.run()
	},
	"written by a test": func(w *world) {
		for _, p := range some() {
			w.ok(w.informer.GetStore().Add(p))
		}
	},
}

func some() []*corev1.Pod {
	other := pod("c", on("n2"))
	other.Namespace = "bank"
	return []*corev1.Pod{pod("a", on("n1")), pod("b", on("n2")), other}
}

func TestIndexer(t *testing.T) {
	for how, fill := range fill {
		t.Run(how, func(t *testing.T) {
			onEach(t, func(w *world) {
				indexer := w.informer.GetIndexer()
				fill(w)
				w.ok(w.informer.AddIndexers(byNode))
				want := func(what string, got []string, err error, want ...string) {
					w.Helper()
					if slices.Sort(got); err != nil || !slices.Equal(got, want) {
						w.Errorf("%s: got %q, %v, want %q", what, got, err, want)
					}
				}
				objects := func(what string, objs []any, err error, names ...string) {
					w.Helper()
					got := []string{}
					for _, obj := range objs {
						got = append(got, nameIn(obj))
					}
					want(what, got, err, names...)
				}
				objects("List", indexer.List(), nil, "a", "b", "c")
				want("ListKeys", indexer.ListKeys(), nil, "bank/c", "shop/a", "shop/b")
				found, err := indexer.ByIndex("node", "n2")
				objects("ByIndex node", found, err, "b", "c")
				found, err = indexer.ByIndex("node", "n3")
				objects("ByIndex without objects", found, err)
				found, err = indexer.ByIndex(cache.NamespaceIndex, "shop")
				objects("ByIndex namespace", found, err, "a", "b")
				found, err = indexer.ByIndex(cache.NamespaceIndex, "")
				objects("ByIndex without a namespace", found, err)
				found, err = indexer.Index("node", pod("x", on("n1")))
				objects("Index", found, err, "a")
				keys, err := indexer.IndexKeys("node", "n2")
				want("IndexKeys", keys, err, "bank/c", "shop/b")
				want("values", indexer.ListIndexFuncValues("node"), nil, "n1", "n2")
				want("namespaces", indexer.ListIndexFuncValues(cache.NamespaceIndex), nil, "bank", "shop")
				want("values of a missing index", indexer.ListIndexFuncValues("none"), nil)
				for _, key := range []any{pod("a"), cache.DeletedFinalStateUnknown{Key: "shop/a"}, cache.ExplicitKey("shop/a")} {
					obj, ok, err := indexer.Get(key)
					if err != nil || !ok || nameIn(obj) != "a" {
						w.Errorf("Get(%v) = %v, %v, %v", key, obj, ok, err)
					}
				}
				for _, key := range []string{"shop/none", "a", "", "shop/", "/a", "shop/a/b"} {
					if obj, ok, err := indexer.GetByKey(key); obj != nil || ok || err != nil {
						w.Errorf("GetByKey(%q) = %v, %v, %v", key, obj, ok, err)
					}
				}
				if _, _, err := indexer.Get(1); err == nil {
					w.Error("Get(1) returned no error")
				}
				if _, err := indexer.ByIndex("none", ""); err == nil {
					w.Error("ByIndex of a missing index returned no error")
				}
				if _, err := indexer.Index("none", pod("a")); err == nil {
					w.Error("Index of a missing index returned no error")
				}
				if _, err := indexer.IndexKeys("none", ""); err == nil {
					w.Error("IndexKeys of a missing index returned no error")
				}
				if all := indexer.GetIndexers(); len(all) != 2 || all["node"] == nil || all[cache.NamespaceIndex] == nil {
					w.Errorf("GetIndexers() = %v", all)
				}
				if indexer.AddIndexers(byNode) == nil {
					w.Error("AddIndexers with a used name returned no error")
				}
				if err := indexer.Resync(); err != nil {
					w.Error(err)
				}
			})
		})
	}
}

// TestIndexOfSeveralValues: Index returns an object with several of the values once.
func TestIndexOfSeveralValues(t *testing.T) {
	onEach(t, func(w *world) {
		w.informer = w.make(0, cache.Indexers{"letter": func(obj any) (letters []string, err error) {
			for _, r := range obj.(*corev1.Pod).Name {
				letters = append(letters, string(r))
			}
			return letters, nil
		}})
		for _, name := range []string{"ab", "bc", "cd"} {
			w.create(name)
		}
		w.run()
		found, err := w.informer.GetIndexer().Index("letter", pod("abc"))
		if err != nil || len(found) != 3 {
			w.Errorf("found %v, %v", found, err)
		}
		w.pods.Delete("shop", "cd")
		w.wantNames("ab", "bc")
		if got := w.informer.GetIndexer().ListIndexFuncValues("letter"); len(got) != 3 {
			w.Errorf("the index has the values %q", got)
		}
	})
}

// TestEmptyBeforeSync: before the sync, a store is empty.
func TestEmptyBeforeSync(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		w.server.Inject(hangingServer)
		w.run()
		w.wantNames()
		if _, ok, err := w.informer.GetStore().GetByKey("shop/a"); ok || err != nil {
			w.Errorf("found %v, %v", ok, err)
		}
	})
}

// TestNamespaceIndex: the store has this index. AddIndexers accepts client-go's function or another
// one for it.
func TestNamespaceIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, engines[1].make, true)
		w.create("a")
		if err := w.informer.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}); err != nil {
			t.Error(err)
		}
		own := cache.Indexers{cache.NamespaceIndex: func(any) ([]string, error) { return []string{"mine"}, nil }}
		if err := w.informer.AddIndexers(own); err != nil {
			t.Error(err)
		}
		if err := w.informer.AddIndexers(own); err == nil {
			t.Error("AddIndexers with another function of a used name returned no error")
		}
		w.run()
		found, err := w.informer.GetIndexer().ByIndex(cache.NamespaceIndex, "mine")
		if err != nil || len(found) != 1 {
			t.Errorf("found %v, %v", found, err)
		}
	})
}

// TestGetsAllocateNothing reads by key and by object.
func TestGetsAllocateNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, engines[1].make, true)
		shop := w.create("a")
		w.run()
		indexer := w.informer.GetIndexer()
		allocs := testing.AllocsPerRun(100, func() {
			_, byKey, _ := indexer.GetByKey("shop/a")
			_, byObject, _ := indexer.Get(shop)
			if !byKey || !byObject {
				t.Error("Get has not found the Pod")
			}
		})
		if allocs != 0 {
			t.Errorf("two Gets allocate %v times, want never", allocs)
		}
	})
}
