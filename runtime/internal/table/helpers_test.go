// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

type thing = metav1.PartialObjectMetadata

// newThing returns an object with keys for the test indexes, stored as its finalizers.
func newThing(namespace, name string, keys ...string) *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: keys}}
}

// testIndex is an Index that reports all keys of both states, even equal ones.
type testIndex struct {
	id   ID
	keys func(*thing) []any
	seen []*thing // the arguments of the key function
}

func (k *testIndex) ID() *ID { return &k.id }

func (k *testIndex) Check() error { return nil }

func (k *testIndex) Changes(old, obj object.Object, c *Changes) {
	if old != nil {
		k.seen = append(k.seen, old.(*thing))
		for _, key := range k.keys(old.(*thing)) {
			c.Leave(hashAny(key), key)
		}
	}
	if obj != nil {
		k.seen = append(k.seen, obj.(*thing))
		for _, key := range k.keys(obj.(*thing)) {
			c.Enter(hashAny(key), key)
		}
	}
}

// hashAny maps many keys to few hashes, so tests also compare keys.
func hashAny(key any) uint32 { return Hash(key) & 0xff }

func byKeys(name string) *testIndex {
	return &testIndex{id: ID{Name: name}, keys: func(o *thing) []any {
		var keys []any
		for _, k := range o.Finalizers {
			keys = append(keys, k)
		}
		return keys
	}}
}

// byGroup indexes objects by the first letter of their names: few keys with many objects.
func byGroup(name string) *testIndex {
	return &testIndex{id: ID{Name: name}, keys: func(o *thing) []any { return []any{o.Name[0]} }}
}

func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// lookup returns the objects of a key, and whether v has the index.
func lookup(v *Version, ix *testIndex, key any) ([]object.Object, bool) {
	set, ok := v.Lookup(&ix.id, hashAny(key), func(k any) bool { return k == key })
	list := slices.Collect(set.All)
	if len(list) != set.Len() {
		panic(fmt.Sprintf("a set of length %d yields %d objects", set.Len(), len(list)))
	}
	return list, ok
}

// model is the expected content of a version.
type model map[object.Key]object.Object

// verify compares all reads of v with m.
func verify(t testing.TB, v *Version, m model, indexes ...*testIndex) {
	t.Helper()
	if v.Len() != len(m) {
		t.Fatalf("Len() = %d, want %d", v.Len(), len(m))
	}
	seen := model{}
	for obj := range v.All {
		seen[object.KeyOf(obj)] = obj
	}
	checkSame(t, "All", seen, m)
	namespaces := map[string]model{}
	for key, want := range m {
		if got, ok := v.Get(key); !ok || got != want {
			t.Fatalf("Get(%v) = %p %v, want %p", key, got, ok, want)
		}
		if key.Namespace != "" {
			addToSet(namespaces, key.Namespace, key, want)
		}
	}
	n := 0
	for namespace := range v.Namespaces {
		n++
		checkSame(t, "Namespace "+namespace, collect(t, v.Namespace(namespace)), namespaces[namespace])
	}
	if n != len(namespaces) {
		t.Fatalf("Namespaces yields %d names, want %d", n, len(namespaces))
	}
	for _, ix := range indexes {
		want := map[any]model{}
		for key, obj := range m {
			for _, k := range ix.keys(obj.(*thing)) {
				addToSet(want, k, key, obj)
			}
		}
		keys, ok := v.IndexKeys(&ix.id)
		if !ok {
			t.Fatalf("the version has no index %q", ix.id.Name)
		}
		n := 0
		for k := range keys {
			n++
			set, _ := v.Lookup(&ix.id, hashAny(k), func(other any) bool { return other == k })
			checkSame(t, fmt.Sprintf("index %s, key %v", ix.id.Name, k), collect(t, set), want[k])
			for _, namespace := range []string{"", "a", "b", "nowhere"} {
				in := maps.Clone(want[k])
				maps.DeleteFunc(in, func(key object.Key, _ object.Object) bool { return namespace != "" && key.Namespace != namespace })
				name := fmt.Sprintf("index %s, key %v in %q", ix.id.Name, k, namespace)
				checkSame(t, name, intersect(t, set, v.Namespace(namespace)), in)
				checkSame(t, name+", with And reversed", intersect(t, v.Namespace(namespace), set), in)
			}
		}
		if n != len(want) {
			t.Fatalf("index %q has %d keys, want %d", ix.id.Name, n, len(want))
		}
	}
}

func addToSet[K comparable](sets map[K]model, k K, key object.Key, obj object.Object) {
	if sets[k] == nil {
		sets[k] = model{}
	}
	sets[k][key] = obj
}

func collect(t testing.TB, s Set) model {
	t.Helper()
	m, n := model{}, 0
	for obj := range s.All {
		m[object.KeyOf(obj)] = obj
		n++
	}
	if n != s.Len() || n != len(m) {
		t.Fatalf("a set of length %d yields %d objects with %d keys", s.Len(), n, len(m))
	}
	return m
}

// intersect returns the intersection of two sets.
func intersect(t testing.TB, a, b Set) model {
	t.Helper()
	m, n := model{}, 0
	a.And(b, func(obj object.Object) bool {
		m[object.KeyOf(obj)] = obj
		n++
		return true
	})
	if n != len(m) {
		t.Fatalf("And yields %d objects with %d keys", n, len(m))
	}
	return m
}

func checkSame(t testing.TB, name string, got, want model) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d objects, want %d", name, len(got), len(want))
	}
	for key, obj := range want {
		if got[key] != obj {
			t.Fatalf("%s: %v is %p, want %p", name, key, got[key], obj)
		}
	}
}

// checkShape verifies the invariants of all trees and tries: there are no empty nodes, and counts
// are right.
func checkShape(t testing.TB, v *Version) {
	t.Helper()
	checkState(t, stateOf(v))
}

func checkState(t testing.TB, v *versionState) {
	t.Helper()
	n := 0
	for slot, obj := range v.objects.each {
		n++
		if at, found := v.find(object.KeyOf(obj), Hash(object.KeyOf(obj))); found != obj || at != slot || v.objects.get(slot) != obj {
			t.Fatalf("slot %d has %v, but find returns slot %d", slot, object.KeyOf(obj), at)
		}
	}
	if n != v.keys.root.len() || n != v.objects.root.len() {
		t.Fatalf("%d objects, but %d keys and a count of %d", n, v.keys.root.len(), v.objects.root.len())
	}
	checkBucket(t, v.keys.root, 0)
	checkBranch(t, v.objects.root, v.objects.height)
	for i := range v.indexes {
		checkIndex(t, &v.indexes[i])
	}
}

// checkBranch verifies the counts in and below a branch, which may be nil.
func checkBranch(t testing.TB, b *branch, height int) {
	t.Helper()
	if b == nil {
		return
	}
	if (b.leaves != nil) != (height == 1) || (b.branches != nil) != (height > 1) {
		t.Fatalf("branch of height %d: leaves %t, branches %t", height, b.leaves != nil, b.branches != nil)
	}
	n := 0
	for i := range 1 << branchBits {
		if height > 1 {
			checkBranch(t, b.branches[i], height-1)
			n += b.branches[i].len()
			continue
		}
		l := b.leaves[i]
		if l == nil {
			continue
		}
		objects := 0
		for _, obj := range l.objects {
			if obj != nil {
				objects++
			}
		}
		if n += objects; objects == 0 || objects != l.n {
			t.Fatalf("leaf with %d objects has count %d", objects, l.n)
		}
	}
	if n == 0 || n != b.n {
		t.Fatalf("branch of height %d with %d objects has count %d", height, n, b.n)
	}
}

// checkBucket verifies the shapes and counts of a node and of all nodes below.
func checkBucket[V comparable](t testing.TB, b *bucket[V], bits int) {
	t.Helper()
	if b == nil {
		return
	}
	n := len(b.entries)
	if b.children != nil {
		for i, child := range b.children {
			checkBucket(t, child, bits+hashBits)
			n += child.len()
			if child == nil {
				continue
			}
			for _, e := range child.entries {
				if b.at(e.hash, bits) != &b.children[i] {
					t.Fatalf("hash %x is in the wrong child %d of a branch", e.hash, i)
				}
			}
		}
	}
	if n != b.n || n == 0 || b.children == nil && n > bucketMax && bits < 32 || b.children != nil && (n <= bucketMax/2 || b.entries != nil) {
		t.Fatalf("node with %d entries has count %d, branch: %t", n, b.n, b.children != nil)
	}
}

// checkIndex verifies that each entry has a key, and each key an entry.
func checkIndex(t testing.TB, x *index) {
	t.Helper()
	n := 0
	for name := range x.keys.all {
		of := count(x.entries, name.number)
		if n += of; of == 0 || !has(x.entries, name.number) {
			t.Fatalf("the index has key %v without objects", name.key)
		}
	}
	checkBucket(t, x.keys.root, 0)
	if n != x.entries.Len() {
		t.Fatalf("%d of %d entries have a key", n, x.entries.Len())
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("recovered %q, want %q in it", got, want)
		}
	}()
	f()
}
