// SPDX-License-Identifier: Apache-2.0

// Package storetest helps to test code that reads a store, and implementations of [store.Reader].
//
// [New] makes a store with objects, for unit tests that need a lister.
//
// [Run] is a test suite for implementations of [store.Reader]. The caller passes a function that
// makes an empty Reader and a way to change its content, as a [Rig]. The suite calls both on the
// goroutine of the test; it starts no goroutine and waits for nothing.
package storetest

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Object is the type of the objects that the suite stores. It uses their namespace, name, labels
// and resourceVersion.
type Object = *metav1.PartialObjectMetadata

// Rig is an empty Reader and its writer.
type Rig struct {
	Reader store.Reader[Object]
	// Apply sets the objects, each under a key of its own, deletes those under the keys, and brings
	// the store to resourceVersion rv. When it returns, new Snapshots show all that. It must not
	// change the objects' resourceVersions.
	Apply func(set []Object, deleted []object.Key, rv string)
}

// Run tests the Readers that rig makes. Each must either keep all of the indexes that rig gets, or
// none: then the suite shows that a Reader without indexes gives the same answers. Random choices
// follow a seed that is logged.
func Run(t *testing.T, rig func(t *testing.T, indexes ...store.Indexer[Object]) Rig) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"empty", testEmpty},
		{"random changes", testRandom},
		{"loops that are left", testLeave},
		{"keys that nothing has", testMisses},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &suite{model: map[object.Key]Object{}}
			s.Rig = rig(t, byColor, bySize, byTags, byPlace)
			test.run(t, s)
		})
	}
}

// ------------------------------------------------------------------------------------------------

type (
	color string
	place = store.NamespacedKey[color]
)

// One index for each kind of key and of key function: optional, plain, several with duplicates,
// within a namespace.
var (
	byColor = store.NewIndex("ByColor", colors)
	bySize  = store.NewIndex("BySize", sizes)
	byTags  = store.NewIndex("ByTags", tags)
	byPlace = store.NewIndex("ByPlace", places)
)

func colors(obj Object, keys []color) []color {
	if c, ok := obj.Labels["color"]; ok {
		keys = append(keys, color(c))
	}
	return keys
}

func sizes(obj Object, keys []int) []int {
	size, _ := strconv.Atoi(obj.Labels["size"])
	return append(keys, size)
}

func tags(obj Object, keys []string) []string {
	return append(keys, strings.Split(obj.Labels["tags"], ".")...)
}

func places(obj Object, keys []place) []place {
	return append(keys, place{Namespace: obj.Namespace, Key: color(obj.Labels["color"])})
}

type suite struct {
	Rig
	model map[object.Key]Object
	rv    int
}

func testEmpty(t *testing.T, s *suite) {
	if rv := s.Reader.Snapshot().ResourceVersion(); rv != "" {
		t.Errorf("an empty Reader stands at resourceVersion %q", rv)
	}
	verify(t, s.Reader.Snapshot(), nil)
	verify(t, nil, nil)
	verify(t, new(store.Snapshot[Object]), nil)
}

func testRandom(t *testing.T, s *suite) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	type moment struct {
		snapshot *store.Snapshot[Object]
		model    map[object.Key]Object
		rv       string
	}
	var history []moment
	for step := range 60 {
		s.change(r, r.IntN(30)+1)
		snapshot := s.Reader.Snapshot()
		if got, want := snapshot.ResourceVersion(), strconv.Itoa(s.rv); got != want {
			t.Fatalf("ResourceVersion() = %q, want %q", got, want)
		} else if got := snapshot.NamespaceResourceVersion("a"); got != want {
			t.Fatalf("NamespaceResourceVersion() = %q, want %q", got, want)
		}
		verify(t, snapshot, s.model)
		if step%10 == 0 {
			history = append(history, moment{snapshot, maps.Clone(s.model), snapshot.ResourceVersion()})
		}
	}
	for _, h := range history {
		if got := h.snapshot.ResourceVersion(); got != h.rv {
			t.Errorf("an old Snapshot goes from resourceVersion %s to %s", h.rv, got)
		}
		verify(t, h.snapshot, h.model)
	}
}

// change sets and deletes up to n objects.
func (s *suite) change(r *rand.Rand, n int) {
	set, deleted := map[object.Key]Object{}, map[object.Key]bool{}
	for range n {
		key := object.Key{Namespace: []string{"red", "green", "blue"}[r.IntN(3)], Name: fmt.Sprint("o", r.IntN(30))}
		s.rv++
		if r.IntN(3) == 0 {
			if s.model[key] != nil && set[key] == nil {
				deleted[key] = true
			}
			continue
		}
		if !deleted[key] {
			set[key] = newObject(key, s.rv, r)
		}
	}
	s.rv++
	s.Apply(slices.Collect(maps.Values(set)), slices.Collect(maps.Keys(deleted)), strconv.Itoa(s.rv))
	maps.Copy(s.model, set)
	maps.DeleteFunc(s.model, func(key object.Key, _ Object) bool { return deleted[key] })
}

func newObject(key object.Key, rv int, r *rand.Rand) Object {
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, ResourceVersion: strconv.Itoa(rv), Labels: map[string]string{},
	}}
	if i := r.IntN(4); i > 0 {
		obj.Labels["color"] = []string{"", "red", "green"}[i-1]
	}
	if i := r.IntN(4); i > 0 {
		obj.Labels["size"] = strconv.Itoa(i)
	}
	var list []string
	for range r.IntN(4) {
		list = append(list, string(rune('a'+r.IntN(6))))
	}
	obj.Labels["tags"] = strings.Join(list, ".")
	return obj
}

func testLeave(t *testing.T, s *suite) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		s.change(r, 20)
	}
	snapshot := s.Reader.Snapshot()
	for what, seq := range map[string]iter.Seq[Object]{
		"All":       snapshot.All(),
		"Namespace": snapshot.Namespace("red"),
		"Select":    snapshot.Select(labels.SelectorFromSet(labels.Set{"color": "red"})),
		"Lookup":    byColor.Lookup(snapshot, "red"),
		"LookupIn":  byColor.LookupIn(snapshot, "red", "red"),
	} {
		all := len(slices.Collect(seq))
		if all < 3 {
			t.Fatalf("%s: only %d objects to try with", what, all)
		}
		for stop := range all {
			n := 0
			for range seq {
				if n == stop {
					break
				}
				n++
			}
			if n != stop {
				t.Errorf("%s: left after %d, but it yielded %d", what, stop, n)
			}
		}
	}
	for obj := range snapshot.All() { // reads inside of a loop
		if got, ok := snapshot.Get(object.KeyOf(obj)); !ok || got != obj {
			t.Fatalf("Get of %s in a loop over All gives another object", object.KeyOf(obj))
		}
	}
	for range byColor.Keys(snapshot) {
		break
	}
}

func testMisses(t *testing.T, s *suite) {
	s.change(rand.New(rand.NewPCG(1, 1)), 20)
	snapshot := s.Reader.Snapshot()
	if obj, ok := snapshot.Get(object.Key{Namespace: "red", Name: "nobody"}); ok || obj != nil {
		t.Errorf("Get of a name that isn't there: %v, %v", obj, ok)
	}
	if obj, ok := snapshot.Get(object.Key{Name: "o1"}); ok || obj != nil {
		t.Errorf("Get without the namespace: %v, %v", obj, ok)
	}
	for range snapshot.Namespace("nowhere") {
		t.Error("a namespace that isn't there has an object")
	}
	if n := len(byColor.List(snapshot, "purple")) + byColor.Len(snapshot, "purple") + snapshot.NamespaceLen("nowhere"); n != 0 {
		t.Errorf("%d objects where there should be none", n)
	}
	if n := len(byColor.ListIn(snapshot, "red", "purple")) + len(byColor.ListIn(snapshot, "nowhere", "red")); n != 0 {
		t.Errorf("%d objects where there should be none", n)
	}
	for range snapshot.Select(labels.Nothing()) {
		t.Error("labels.Nothing() selects something")
	}
}

// verify compares all answers of a Snapshot with the model.
func verify(t *testing.T, s *store.Snapshot[Object], model map[object.Key]Object) {
	t.Helper()
	v := verifier{t, model}
	if s.Len() != len(model) {
		t.Fatalf("Len() = %d, want %d", s.Len(), len(model))
	}
	for key, want := range model {
		if got, ok := s.Get(key); !ok || got.ResourceVersion != want.ResourceVersion {
			t.Fatalf("Get(%s) = %v, %v, want resourceVersion %s", key, got, ok, want.ResourceVersion)
		}
	}
	each := func(Object) bool { return true }
	v.same("All", s.All(), each)
	v.same(`Namespace("")`, s.Namespace(""), each)
	v.same("Select(nil)", s.Select(nil), each)
	v.same("List of everything", slices.Values(s.List("", labels.Everything())), each)

	namespaces := distinct(v, func(obj Object) []string { return []string{obj.Namespace} })
	sameKeys(t, "Namespaces", s.Namespaces(), namespaces)
	for namespace := range namespaces {
		in := func(obj Object) bool { return obj.Namespace == namespace }
		v.same("Namespace "+namespace, s.Namespace(namespace), in)
		v.same("List of "+namespace, slices.Values(s.List(namespace, nil)), in)
		if n := s.NamespaceLen(namespace); n != v.count(in) {
			t.Fatalf("NamespaceLen(%s) = %d, want %d", namespace, n, v.count(in))
		}
	}
	for _, text := range []string{"color=red", "color,size notin (1,2)", "!color"} {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		matches := func(obj Object) bool { return selector.Matches(labels.Set(obj.Labels)) }
		v.same("Select "+text, s.Select(selector), matches)
		v.same("List of red, "+text, slices.Values(s.List("red", selector)), func(obj Object) bool {
			return obj.Namespace == "red" && matches(obj)
		})
	}
	verifyIndex(v, s, byColor, colors)
	verifyIndex(v, s, bySize, sizes)
	verifyIndex(v, s, byTags, tags)
	verifyIndex(v, s, byPlace, places)
}

func verifyIndex[K comparable](v verifier, s *store.Snapshot[Object], index *store.Index[Object, K], keysOf func(Object, []K) []K) {
	v.t.Helper()
	keys := distinct(v, func(obj Object) []K { return keysOf(obj, nil) })
	sameKeys(v.t, index.Name()+": Keys", index.Keys(s), keys)
	for key := range keys {
		has := func(obj Object) bool { return slices.Contains(keysOf(obj, nil), key) }
		v.same(fmt.Sprintf("%s: Lookup of %v", index.Name(), key), index.Lookup(s, key), has)
		v.same(fmt.Sprintf("%s: List of %v", index.Name(), key), slices.Values(index.List(s, key)), has)
		if n := index.Len(s, key); n != v.count(has) {
			v.t.Fatalf("%s: Len(%v) = %d, want %d", index.Name(), key, n, v.count(has))
		}
		for _, namespace := range []string{"", "red", "green", "blue"} {
			in := func(obj Object) bool { return has(obj) && (namespace == "" || obj.Namespace == namespace) }
			v.same(fmt.Sprintf("%s: LookupIn %s of %v", index.Name(), namespace, key), index.LookupIn(s, namespace, key), in)
			v.same(fmt.Sprintf("%s: ListIn %s of %v", index.Name(), namespace, key), slices.Values(index.ListIn(s, namespace, key)), in)
		}
	}
}

type verifier struct {
	t     *testing.T
	model map[object.Key]Object
}

// same fails unless seq yields exactly the objects of the model for which has returns true, in the
// same state, and each once.
func (v verifier) same(what string, seq iter.Seq[Object], has func(Object) bool) {
	v.t.Helper()
	seen := map[object.Key]bool{}
	for obj := range seq {
		key := object.KeyOf(obj)
		want := v.model[key]
		switch {
		case seen[key]:
			v.t.Fatalf("%s: %s comes twice", what, key)
		case want == nil || !has(want):
			v.t.Fatalf("%s: %s should not be there", what, key)
		case want.ResourceVersion != obj.ResourceVersion:
			v.t.Fatalf("%s: %s comes at resourceVersion %s, want %s", what, key, obj.ResourceVersion, want.ResourceVersion)
		}
		seen[key] = true
	}
	if n := v.count(has); len(seen) != n {
		v.t.Fatalf("%s: %d objects, want %d", what, len(seen), n)
	}
}

func (v verifier) count(has func(Object) bool) (n int) {
	for _, obj := range v.model {
		if has(obj) {
			n++
		}
	}
	return n
}

func distinct[K comparable](v verifier, keysOf func(Object) []K) map[K]bool {
	keys := map[K]bool{}
	for _, obj := range v.model {
		for _, key := range keysOf(obj) {
			keys[key] = true
		}
	}
	return keys
}

func sameKeys[K comparable](t *testing.T, what string, got iter.Seq[K], want map[K]bool) {
	t.Helper()
	seen := map[K]bool{}
	for key := range got {
		if seen[key] || !want[key] {
			t.Fatalf("%s: %v comes twice, or should not be there", what, key)
		}
		seen[key] = true
	}
	if len(seen) != len(want) {
		t.Fatalf("%s: %d keys, want %d", what, len(seen), len(want))
	}
}
