// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// TestWriteBeforeRun: the store of an informer that never ran accepts writes.
func TestWriteBeforeRun(t *testing.T) {
	onEach(t, func(w *world) {
		w.ok(w.informer.AddIndexers(byNode))
		store := w.informer.GetStore()
		w.ok(store.Add(pod("a", on("n1"))))
		w.ok(store.Add(pod("b", on("n1"))))
		w.ok(store.Update(pod("a", on("n2"))))
		w.wantNames("a", "b")
		found, err := w.informer.GetIndexer().ByIndex("node", "n1")
		if err != nil || len(found) != 1 || nameIn(found[0]) != "b" {
			w.Errorf("found %v, %v", found, err)
		}
		w.ok(store.Delete(pod("a")))
		w.ok(store.Delete(cache.DeletedFinalStateUnknown{Key: "shop/none"}))
		w.wantNames("b")
		w.ok(store.Replace([]any{pod("c"), pod("d")}, "7"))
		w.wantNames("c", "d")
		for _, wrong := range []any{1, nil} {
			for verb, err := range map[string]error{
				"Add": store.Add(wrong), "Update": store.Update(wrong), "Delete": store.Delete(wrong), "Replace": store.Replace([]any{wrong}, "8"),
			} {
				if noKey := (cache.KeyError{}); !errors.As(err, &noKey) || noKey.Obj != wrong {
					w.Errorf("%s(%v) = %v, want a KeyError", verb, wrong, err)
				}
			}
		}
		w.wantNames("c", "d")
		w.create("e")
		w.run()
		w.wantNames("e") // the server's objects
	})
}

// TestWriteWhileRunning: writes are errors, because the store mirrors the server.
func TestWriteWhileRunning(t *testing.T) {
	onEach(t, func(w *world) {
		if !w.ours {
			w.Skip("client-go's stores accept writes")
		}
		w.run()
		store := w.informer.GetStore()
		for verb, err := range map[string]error{
			"Add": store.Add(pod("a")), "Update": store.Update(pod("a")), "Delete": store.Delete(pod("a")), "Replace": store.Replace(nil, "1"),
		} {
			if err == nil || !strings.Contains(err.Error(), verb+": the informer runs") {
				w.Errorf("%s: error %v, want one about the run", verb, err)
			}
		}
		w.wantNames()
	})
}

// TestIndexFunctionFails: client-go panics. Ours keeps the object without keys in the index.
func TestIndexFunctionFails(t *testing.T) {
	onEach(t, func(w *world) {
		if !w.ours {
			w.Skip("client-go panics")
		}
		failures := w.failures()
		broken := cache.Indexers{"node": func(obj any) ([]string, error) {
			if node := obj.(*corev1.Pod).Spec.NodeName; node != "" {
				return []string{node}, nil
			}
			return nil, errors.New("no node")
		}}
		w.ok(w.informer.AddIndexers(broken))
		w.create("a")
		w.create("b", on("n1"))
		w.run()
		w.wantNames("a", "b")
		if got := w.informer.GetIndexer().ListIndexFuncValues("node"); len(got) != 1 {
			w.Errorf("the index has the values %q", got)
		}
		if got := failures(); len(got) != 1 || !strings.Contains(got[0].Error(), `index "node" of shop/a: no node`) {
			w.Errorf("the error handler got %v", got)
		}
		late := cache.Indexers{"late": broken["node"]}
		if err := w.informer.AddIndexers(late); err == nil || !strings.Contains(err.Error(), `index "late" of shop/a: no node`) {
			w.Errorf("AddIndexers after the sync: error %v", err)
		}
		w.informer = w.make(0, broken)
		if err := w.informer.GetStore().Add(pod("c")); err == nil {
			w.Error("Add of an object without index keys returned no error")
		}
		w.informer = w.make(0, nil)
		w.ok(w.informer.GetStore().Add(pod("c")))
		if err := w.informer.AddIndexers(broken); err == nil {
			w.Error("AddIndexers with a function that fails for a written object returned no error")
		}
		if err := w.informer.AddIndexers(byNode); err != nil {
			w.Errorf("AddIndexers with the name of a refused index: %v", err)
		}
	})
}
