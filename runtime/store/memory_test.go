// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sealed is a key with strings in places that are hard to reach.
type sealed struct {
	Name  string
	parts [2]struct{ text types.UID }
	any   any
	n     int
}

// eachForm has an index for each form of key that has strings. The function makes keys of strings
// of the object.
func eachForm() []store.AnyIndex[*thing] {
	return []store.AnyIndex[*thing]{
		store.NewIndex("string", func(obj *thing, keys []string) []string { return append(keys, obj.Labels["node"]) }),
		store.NewIndex("named", func(obj *thing, keys []types.UID) []types.UID { return append(keys, types.UID(obj.Labels["node"])) }),
		store.NewIndex("any", func(obj *thing, keys []any) []any { return append(keys, obj.Labels["node"], obj.GroupVersionKind()) }),
		store.NewIndex("namespaced", func(obj *thing, keys []store.NamespacedKey[string]) []store.NamespacedKey[string] {
			return append(keys, store.NamespacedKey[string]{Namespace: obj.Namespace, Key: obj.Labels["node"]})
		}),
		store.NewIndex("sealed", func(obj *thing, keys []sealed) []sealed {
			key := sealed{Name: obj.Labels["node"], any: [1]any{types.UID(obj.Namespace)}, n: 7}
			key.parts[1].text = types.UID(obj.Labels["node"])
			return append(keys, key, sealed{})
		}),
	}
}

// largeThing returns an object all of whose strings are pieces of one, as a decoder makes them.
func largeThing(namespace, name, node, resourceVersion string) *thing {
	const size = 500_000
	text := namespace + name + node + resourceVersion + "node" + strings.Repeat("x", size)
	cut := func(n int) string {
		piece := text[:n]
		text = text[n:]
		return piece
	}
	obj := newThing(cut(len(namespace)), cut(len(name)), cut(len(node)))
	obj.ResourceVersion = cut(len(resourceVersion))
	obj.Labels = map[string]string{cut(len("node")): obj.Labels["node"]}
	obj.Annotations = map[string]string{"large": cut(size)}
	return obj
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestNothingKeepsTheTextOfAnObjectThatIsGone has 100 large objects that bring namespaces and keys,
// which others have after them, and are deleted or replaced by small ones. They are read in all
// ways before.
func TestNothingKeepsTheTextOfAnObjectThatIsGone(t *testing.T) {
	const objects, most = 100, 1_000_000
	for _, replaced := range []bool{false, true} {
		s := mustNew(t, eachForm()...)
		list := lister.New(store.Reader[*thing](s), schema.GroupResource{Resource: "things"})
		set := func(obj *thing) {
			t.Helper()
			if err := s.Update(func(x *store.Txn[*thing]) error {
				x.SetResourceVersion(obj.ResourceVersion)
				return x.Set(obj)
			}); err != nil {
				t.Fatal(err)
			}
		}
		before := heap()
		for i := range objects {
			large := largeThing(fmt.Sprint("namespace-", i), "large", fmt.Sprint("node-", i), fmt.Sprint("0", i))
			set(large)
			small := newThing(fmt.Sprint("namespace-", i), "small", fmt.Sprint("node-", i))
			put(t, s, small)
			for range 3 {
				if _, err := list.Namespace(large.Namespace).Get(large.Name); err != nil {
					t.Fatal(err)
				}
				if n := len(s.Snapshot().List("", labels.SelectorFromSet(labels.Set{"node": large.Labels["node"]}))); n != 2 {
					t.Fatalf("%d objects on a node, want 2", n)
				}
			}
		}
		if full := heap() - before; full < objects*500_000 {
			t.Fatalf("%d bytes with all objects", full)
		}
		for i := range objects {
			if replaced {
				put(t, s, newThing(fmt.Sprint("namespace-", i), "large", fmt.Sprint("node-", i)))
				continue
			}
			if err := s.Update(func(x *store.Txn[*thing]) error {
				old, _ := x.Delete(object.Key{Namespace: fmt.Sprint("namespace-", i), Name: "large"})
				x.SetResourceVersion(old.ResourceVersion)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if left := heap() - before; left > most {
			t.Errorf("replaced %v: large objects that are gone keep %d bytes, want %d at most", replaced, left, most)
		}
		if got := s.Snapshot().ResourceVersion(); got != "099" {
			t.Errorf("ResourceVersion() = %q", got)
		}
		runtime.KeepAlive(list)
	}
}
