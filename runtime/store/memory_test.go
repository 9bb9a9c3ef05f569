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

// structKey is a key with strings in unexported fields, arrays and interfaces.
type structKey struct {
	Name  string
	texts [2]struct{ text types.UID }
	any   any
	n     int
}

// indexesOfEveryKeyType returns an index for each form of key with strings. The keys are made from
// the object's strings.
func indexesOfEveryKeyType() []store.AnyIndex[*thing] {
	return []store.AnyIndex[*thing]{
		store.NewIndex("string", func(obj *thing, keys []string) []string { return append(keys, obj.Labels["node"]) }),
		store.NewIndex("named", func(obj *thing, keys []types.UID) []types.UID { return append(keys, types.UID(obj.Labels["node"])) }),
		store.NewIndex("any", func(obj *thing, keys []any) []any { return append(keys, obj.Labels["node"], obj.GroupVersionKind()) }),
		store.NewIndex("namespaced", func(obj *thing, keys []store.NamespacedKey[string]) []store.NamespacedKey[string] {
			return append(keys, store.NamespacedKey[string]{Namespace: obj.Namespace, Key: obj.Labels["node"]})
		}),
		store.NewIndex("sealed", func(obj *thing, keys []structKey) []structKey {
			key := structKey{Name: obj.Labels["node"], any: [1]any{types.UID(obj.Namespace)}, n: 7}
			key.texts[1].text = types.UID(obj.Labels["node"])
			return append(keys, key, structKey{})
		}),
	}
}

// largeThing returns an object whose strings are pieces of one large string, as if decoded.
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

// TestRemovedObjectsAreFreed stores 100 large objects, each the first of its namespace and index
// keys, and a small one after it. Then it reads them in all ways, and deletes or replaces the large
// ones.
func TestRemovedObjectsAreFreed(t *testing.T) {
	const objects, limit = 100, 1_000_000
	for _, replaced := range []bool{false, true} {
		s := mustNew(t, indexesOfEveryKeyType()...)
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
					t.Fatalf("List returns %d objects on a node, want 2", n)
				}
			}
		}
		if full := heap() - before; full < objects*500_000 {
			t.Fatalf("the heap has grown by %d bytes, less than the objects' texts", full)
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
		if left := heap() - before; left > limit {
			t.Errorf("replaced %v: removed objects keep %d bytes, want at most %d", replaced, left, limit)
		}
		if got := s.Snapshot().ResourceVersion(); got != "099" {
			t.Errorf("ResourceVersion() = %q, want 099", got)
		}
		runtime.KeepAlive(list)
	}
}
