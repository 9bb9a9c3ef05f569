// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"iter"
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
	objects := 0
	for _, n := range nodesOf(&v.objects.leaves) {
		if n.c.objs == [leafLen]object.Object{} {
			t.Fatal("an empty leaf is kept")
		}
	}
	for range v.objects.slots {
		objects++
	}
	if objects != v.keys.n {
		t.Fatalf("%d objects under %d keys", objects, v.keys.n)
	}
	checkArray(t, &v.objects.leaves)
	checkHashed(t, &v.keys)
	checkPostings(t, v, &v.namespaces)
	for _, ix := range v.indexes {
		checkPostings(t, v, &ix.postings)
	}
}

// checkSlots verifies that the writer knows which slots are taken.
func checkSlots(t testing.TB, table *Table) {
	t.Helper()
	w := table.writer.(*writer)
	if w.mixed {
		return
	}
	var want slotSet
	for slot := range stateOf(table.Version()).objects.slots {
		want.add(slot)
	}
	slots := 64
	if len(want.levels) > 0 {
		slots += 64 * len(want.levels[0])
	}
	for slot := range uint32(slots) {
		if got, want := w.slots.has(slot), want.has(slot); got != want {
			t.Fatalf("slot %d: taken is %v, want %v", slot, got, want)
		}
	}
}

func (s *slotSet) has(slot uint32) bool {
	if len(s.levels) == 0 || int(slot/64) >= len(s.levels[0]) {
		return false
	}
	return s.levels[0][slot/64]>>(slot%64)&1 != 0
}

func nodesOf[C any](a *array[C]) iter.Seq2[uint32, *node[C]] {
	return func(yield func(uint32, *node[C]) bool) { each(a, yield) }
}

// checkArray verifies that a state has no node that is newer.
func checkArray[C any](t testing.TB, a *array[C]) {
	t.Helper()
	for i, n := range nodesOf(a) {
		if n.owner > a.serial {
			t.Fatalf("node %d is too new", i)
		}
	}
}

func checkHashed[V comparable](t testing.TB, h *hashed[V]) {
	t.Helper()
	checkArray(t, &h.buckets)
	n := 0
	var zero V
	for i, node := range nodesOf(&h.buckets) {
		if i >= h.count || node.c.has[0] == zero {
			t.Fatalf("bucket %d of %d is empty", i, h.count)
		}
		last := false
		for b := &node.c; b != nil; b = b.more {
			for l, v := range b.has {
				switch {
				case v == zero:
					last = true
					if l == 0 || b.more != nil {
						t.Fatalf("bucket %d has holes", i)
					}
					continue
				case last:
					t.Fatalf("bucket %d has holes", i)
				}
				n++
				if hash := b.hashes[l]; numberOf(h, hash) != i {
					t.Fatalf("hash %x is in bucket %d of %d, want %d", hash, i, h.count, numberOf(h, hash))
				}
			}
		}
	}
	if n != h.n || n > int(h.count)*bucketLoad || h.count > 1 && n < int(h.count-1)*(bucketLoad/2) {
		t.Fatalf("%d entries in %d buckets, want %d", n, h.count, h.n)
	}
}

func checkPostings(t testing.TB, v *versionState, h *hashed[*posting]) {
	t.Helper()
	checkHashed(t, h)
	for p := range func(yield func(*posting) bool) { entries(h, yield) } {
		checkPosting(t, p)
		checkPosting(t, v.setOf(p).posting)
	}
}

func checkPosting(t testing.TB, p *posting) {
	t.Helper()
	all := slotsIn(p)
	if int(p.n) != len(all) || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Fatalf("posting %v: n is %d, slots are %v", p.key, p.n, all)
	}
	switch {
	case p.n == 0, (p.n == 1) != (p.many == nil):
		t.Fatalf("posting %v of %d: wrong form", p.key, p.n)
	case p.n == 1:
	case (p.many.few == nil) == (p.many.tree == nil):
		t.Fatalf("posting %v of %d: both or no forms", p.key, p.n)
	case p.n > fewMax && p.many.few != nil, p.n <= fewMax/2 && p.many.tree != nil:
		t.Fatalf("posting %v of %d: wrong form", p.key, p.n)
	case p.many.tree != nil:
		if n := checkTree(t, p.many.tree, p.many.height, 0); n != int(p.n) {
			t.Fatalf("posting %v of %d: %d slots in the tree", p.key, p.n, n)
		}
		n := 0
		for found, first, end := nextOf(p.many.tree, p.many.height, 0, 0); found != nil; found, first, end = nextOf(p.many.tree, p.many.height, 0, end) {
			eachOf(found, 0, uint32(first), func(slot uint32) bool {
				if int(slot) < first || int(slot) >= end || n < len(all) && all[n] != slot {
					t.Fatalf("posting %v of %d: slot %d from %d to %d, want %d", p.key, p.n, slot, first, end, all[n])
				}
				n++
				return true
			})
		}
		if n != len(all) {
			t.Fatalf("posting %v of %d: %d slots one list after the other", p.key, p.n, n)
		}
	}
}

// checkTree verifies that every part of the tree has the form for its number of slots, and that all
// ways to read it agree. It returns the number of slots.
func checkTree(t testing.TB, all tree, height int, first uint32) (n int) {
	t.Helper()
	eachOf(all, height, first, func(slot uint32) bool {
		if n++; int(slot) < int(first) || int(slot) >= int(first)+sizeOf(height) || n%16 == 1 && !has(all, height, slot) {
			t.Fatalf("slot %d is not in its tree of %d from %d on", slot, sizeOf(height), first)
		}
		return true
	})
	counted := 0
	switch in := all.(type) {
	case *list:
		if counted = len(in.slots); n == 0 || n > listMax || height > listHeight || !slices.IsSorted(in.slots) {
			t.Fatalf("a list of %d slots in a tree of height %d: %v", n, height, in.slots)
		}
	case *bitmap:
		if counted = in.n; n <= listMax/2 || height > 0 {
			t.Fatalf("a bitmap of %d slots in a tree of height %d", n, height)
		}
	case *branch:
		counted = in.n
		if n == 0 || height == 0 || height <= listHeight && n <= listMax/2 {
			t.Fatalf("a branch of %d slots in a tree of height %d", n, height)
		}
		sum := 0
		for i, below := range in.trees {
			if below != nil {
				sum += checkTree(t, below, height-1, first+uint32(i*sizeOf(height-1)))
			}
		}
		if sum != n {
			t.Fatalf("%d slots in the trees of a branch of %d", sum, n)
		}
	}
	if counted != n {
		t.Fatalf("a tree of %d slots has counted %d", n, counted)
	}
	return n
}

func slotsIn(p *posting) (all []uint32) {
	p.each(func(slot uint32) bool { all = append(all, slot); return true })
	return all
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
