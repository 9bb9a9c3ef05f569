// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// The tests of this file have the scenarios of client-go's tests of its stores and indexers. Its
// Add, Update and Delete are a Txn's Set and Delete.

// byUsers splits an annotation, so an object has several keys.
var byUsers = store.NewIndex("ByUsers", func(obj *thing, keys []string) []string {
	return append(keys, strings.Split(obj.Annotations["users"], ",")...)
})

func used(name, users string) *thing {
	obj := newThing("", name, "")
	obj.Annotations = map[string]string{"users": users}
	return obj
}

func drop(t *testing.T, s *store.Store[*thing], name string) {
	t.Helper()
	if err := s.Update(func(x *store.Txn[*thing]) error { x.Delete(object.Key{Name: name}); return nil }); err != nil {
		t.Fatal(err)
	}
}

// wantUsers compares an index with "key: names" lines.
func wantUsers(t *testing.T, s *store.Store[*thing], want ...string) {
	t.Helper()
	snapshot := s.Snapshot()
	var got []string
	for _, key := range slices.Sorted(byUsers.Keys(snapshot)) {
		var names []string
		for obj := range byUsers.Lookup(snapshot, key) {
			names = append(names, obj.Name)
		}
		slices.Sort(names)
		got = append(got, key+": "+strings.Join(names, " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMirrorCache(t *testing.T) {
	s := mustNew(t)
	foo := object.Key{Name: "foo"}
	for _, value := range []string{"bar", "baz"} {
		put(t, s, used("foo", value))
		if got, ok := s.Snapshot().Get(foo); !ok || got.Annotations["users"] != value {
			t.Errorf("got %v, %v, want %s", got, ok, value)
		}
	}
	drop(t, s, "foo")
	if _, ok := s.Snapshot().Get(foo); ok {
		t.Error("found what was deleted")
	}
	put(t, s, used("a", "b"), used("c", "d"), used("e", "e"))
	var values []string
	for _, obj := range s.Snapshot().List("", nil) {
		values = append(values, obj.Annotations["users"])
	}
	if slices.Sort(values); !slices.Equal(values, []string{"b", "d", "e"}) {
		t.Errorf("listed %q", values)
	}
}

func TestMirrorIndex(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, used("a", "b"), used("c", "b"), used("e", "f"), used("g", "h"))
	wantUsers(t, s, "b: a c", "f: e", "h: g")
}

func TestMirrorGetIndexFuncValues(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, used("one", "bar"), used("two", "bar"), used("tre", "biz"))
	if got := slices.Sorted(byUsers.Keys(s.Snapshot())); !slices.Equal(got, []string{"bar", "biz"}) {
		t.Errorf("keys %q", got)
	}
}

func TestMirrorMultiIndexKeys(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, used("one", "ernie,bert"), used("two", "bert,oscar"), used("tre", "ernie,elmo"))
	wantUsers(t, s, "bert: one two", "elmo: tre", "ernie: one tre", "oscar: two")
	if n := byUsers.Len(s.Snapshot(), "elmo1"); n != 0 {
		t.Errorf("%d objects under a key that none has", n)
	}
	drop(t, s, "tre")
	wantUsers(t, s, "bert: one two", "ernie: one", "oscar: two")
	put(t, s, used("two", "oscar"))
	wantUsers(t, s, "bert: one", "ernie: one", "oscar: two")
}

func TestMirrorThreadSafeStoreIndexingFunctionsWithMultipleValues(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, used("key1", "foo"), used("key2", "bar"))
	wantUsers(t, s, "bar: key2", "foo: key1")
	put(t, s, used("key2", "foo,bar"))
	wantUsers(t, s, "bar: key2", "foo: key1 key2")
	put(t, s, used("key1", "foo,bar"))
	wantUsers(t, s, "bar: key1 key2", "foo: key1 key2")
	put(t, s, used("key3", "foo,bar,baz"))
	wantUsers(t, s, "bar: key1 key2 key3", "baz: key3", "foo: key1 key2 key3")
	put(t, s, used("key1", "foo"))
	wantUsers(t, s, "bar: key2 key3", "baz: key3", "foo: key1 key2 key3")
	put(t, s, used("key2", "bar"))
	wantUsers(t, s, "bar: key2 key3", "baz: key3", "foo: key1 key3")
	drop(t, s, "key1")
	wantUsers(t, s, "bar: key2 key3", "baz: key3", "foo: key3")
	drop(t, s, "key3")
	wantUsers(t, s, "bar: key2")
}

// TestMirrorThreadSafeStoreEmptySets: a key without objects is no key; one that keeps an object
// stays.
func TestMirrorThreadSafeStoreEmptySets(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, used("only", "one"), used("retain", "two"), used("delete", "two"))
	drop(t, s, "only")
	drop(t, s, "delete")
	wantUsers(t, s, "two: retain")
}

// TestMirrorThreadSafeStoreRV: the version is the one that the writer sets, not that of the
// objects.
func TestMirrorThreadSafeStoreRV(t *testing.T) {
	s := mustNew(t)
	want := func(version string) {
		t.Helper()
		if got := s.Snapshot().ResourceVersion(); got != version {
			t.Errorf("the store stands at %q, want %q", got, version)
		}
	}
	at := func(version string, change func(x *store.Txn[*thing]) error) {
		t.Helper()
		if err := s.Update(func(x *store.Txn[*thing]) error { x.SetResourceVersion(version); return change(x) }); err != nil {
			t.Fatal(err)
		}
		want(version)
	}
	want("")
	obj := used("key1", "x")
	obj.ResourceVersion = "10"
	put(t, s, obj)
	want("") // deviation
	at("10", func(x *store.Txn[*thing]) error { return x.Set(obj) })
	at("30", func(x *store.Txn[*thing]) error { x.Delete(object.KeyOf(obj)); return nil })
	at("50", func(x *store.Txn[*thing]) error { return x.Set(used("key2", "y")) })
	drop(t, s, "key2")
	want("50")
	at("123", func(*store.Txn[*thing]) error { return nil }) // a bookmark
	at("5", func(*store.Txn[*thing]) error { return nil })   // a full state that is older
}
