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

// newThing makes an object; keys become the values of its finalizers, which the test indexes read.
func newThing(namespace, name string, keys ...string) *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: keys}}
}

// keysOf is an Index over what its function returns. It leaves all comparing to the table.
type keysOf struct {
	id   ID
	keys func(*thing) []any
	seen []*thing // every object that the index function was called with
}

func (k *keysOf) ID() *ID { return &k.id }

func (k *keysOf) Check() error { return nil }

func (k *keysOf) Changes(old, obj object.Object, c *Changes) {
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

// hashAny sends many keys to few hashes, so that comparing keys is tested too.
func hashAny(key any) uint32 { return Hash(key) & 0xff }

func byKeys(name string) *keysOf {
	return &keysOf{id: ID{Name: name}, keys: func(o *thing) []any {
		var keys []any
		for _, k := range o.Finalizers {
			keys = append(keys, k)
		}
		return keys
	}}
}

// byGroup files every object under the first letter of its name: few keys with many objects.
func byGroup(name string) *keysOf {
	return &keysOf{id: ID{Name: name}, keys: func(o *thing) []any { return []any{o.Name[0]} }}
}

func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// lookup returns the objects under key by way of the index.
func lookUp(v *Version, ix *keysOf, key any) ([]object.Object, bool) {
	set, ok := v.Lookup(&ix.id, hashAny(key), func(k any) bool { return k == key })
	list := slices.Collect(set.All)
	if len(list) != set.Len() {
		panic(fmt.Sprintf("a set of %d yields %d objects", set.Len(), len(list)))
	}
	return list, ok
}

// model is the content that a version should have.
type model map[object.Key]object.Object

// verify compares everything that v answers with what m answers.
func verify(t testing.TB, v *Version, m model, indexes ...*keysOf) {
	t.Helper()
	if v.Len() != len(m) {
		t.Fatalf("Len() = %d, want %d", v.Len(), len(m))
	}
	seen := model{}
	for obj := range v.All {
		seen[object.KeyOf(obj)] = obj
	}
	same(t, "All", seen, m)
	namespaces := map[string]model{}
	for key, want := range m {
		if got, ok := v.Get(key); !ok || got != want {
			t.Fatalf("Get(%v) = %p %v, want %p", key, got, ok, want)
		}
		if key.Namespace != "" {
			addTo(namespaces, key.Namespace, key, want)
		}
	}
	n := 0
	for namespace := range v.Namespaces {
		n++
		same(t, "Namespace "+namespace, collect(t, v.Namespace(namespace)), namespaces[namespace])
	}
	if n != len(namespaces) {
		t.Fatalf("%d namespaces, want %d", n, len(namespaces))
	}
	for _, ix := range indexes {
		want := map[any]model{}
		for key, obj := range m {
			for _, k := range ix.keys(obj.(*thing)) {
				addTo(want, k, key, obj)
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
			same(t, fmt.Sprintf("index %s, key %v", ix.id.Name, k), collect(t, set), want[k])
			for _, namespace := range []string{"", "a", "b", "nowhere"} {
				in := maps.Clone(want[k])
				maps.DeleteFunc(in, func(key object.Key, _ object.Object) bool { return namespace != "" && key.Namespace != namespace })
				what := fmt.Sprintf("index %s, key %v in %q", ix.id.Name, k, namespace)
				same(t, what, both(t, set, v.Namespace(namespace)), in)
				same(t, what+", asked the other way", both(t, v.Namespace(namespace), set), in)
			}
		}
		if n != len(want) {
			t.Fatalf("index %q has %d keys, want %d", ix.id.Name, n, len(want))
		}
	}
}

func addTo[K comparable](sets map[K]model, k K, key object.Key, obj object.Object) {
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
		t.Fatalf("a set of %d yields %d objects with %d keys", s.Len(), n, len(m))
	}
	return m
}

// both returns what two sets have in common.
func both(t testing.TB, a, b Set) model {
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

func same(t testing.TB, what string, got, want model) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d objects, want %d", what, len(got), len(want))
	}
	for key, obj := range want {
		if got[key] != obj {
			t.Fatalf("%s: %v is %p, want %p", what, key, got[key], obj)
		}
	}
}

// checkShape verifies the invariants of the structures: nothing empty is kept, and counts are
// right.
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
			t.Fatalf("slot %d has %v, found in %d", slot, object.KeyOf(obj), at)
		}
	}
	if n != v.keys.root.len() || n != v.objects.root.len() {
		t.Fatalf("%d objects under %d keys, counted %d", n, v.keys.root.len(), v.objects.root.len())
	}
	checkBucket(t, v.keys.root, 0)
	checkBranch(t, v.objects.root, v.objects.height)
	for i := range v.indexes {
		checkIndex(t, &v.indexes[i])
	}
}

// checkBranch verifies the count of a branch, which may be nil, and of all below.
func checkBranch(t testing.TB, b *branch, height int) {
	t.Helper()
	if b == nil {
		return
	}
	if (b.leaves != nil) != (height == 1) || (b.branches != nil) != (height > 1) {
		t.Fatalf("a branch of height %d has leaves: %t", height, b.leaves != nil)
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
			t.Fatalf("a leaf with %d objects has counted %d", objects, l.n)
		}
	}
	if n == 0 || n != b.n {
		t.Fatalf("a branch of height %d with %d objects has counted %d", height, n, b.n)
	}
}

// checkBucket verifies the form and the count of a node and of all below.
func checkBucket[V comparable](t testing.TB, b *bucket[V], bits int) {
	t.Helper()
	if b == nil {
		return
	}
	n := len(b.entries)
	if b.below != nil {
		for i, below := range b.below {
			checkBucket(t, below, bits+hashBits)
			n += below.len()
			if below == nil {
				continue
			}
			for _, e := range below.entries {
				if b.at(e.hash, bits) != &b.below[i] {
					t.Fatalf("hash %x is in node %d of a branch", e.hash, i)
				}
			}
		}
	}
	if n != b.n || n == 0 || b.below == nil && n > bucketMax && bits < 32 || b.below != nil && (n <= bucketMax/2 || b.entries != nil) {
		t.Fatalf("a bucket with %d entries has counted %d, and is a branch: %t", n, b.n, b.below != nil)
	}
}

// checkIndex verifies that each entry has a name, and each name an entry.
func checkIndex(t testing.TB, x *index) {
	t.Helper()
	n := 0
	for name := range x.names.all {
		of := count(x.entries, name.number)
		if n += of; of == 0 || !has(x.entries, name.number) {
			t.Fatalf("key %v is kept, but no object has it", name.key)
		}
	}
	checkBucket(t, x.names.root, 0)
	if n != x.entries.Len() {
		t.Fatalf("%d of %d entries have a name", n, x.entries.Len())
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panics with %q, want %q", got, want)
		}
	}()
	f()
}
