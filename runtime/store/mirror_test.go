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

// The tests in this file have the scenarios of client-go's store and indexer tests. Set and Delete
// of a Txn replace client-go's Add, Update and Delete.

// byUsers splits an annotation, so an object has several keys.
var byUsers = store.NewIndex("ByUsers", func(obj *thing, keys []string) []string {
	return append(keys, strings.Split(obj.Annotations["users"], ",")...)
})

func withUsers(name, users string) *thing {
	obj := newThing("", name, "")
	obj.Annotations = map[string]string{"users": users}
	return obj
}

func deleteKey(t *testing.T, s *store.Store[*thing], name string) {
	t.Helper()
	if err := s.Update(func(x *store.Txn[*thing]) error { x.Delete(object.Key{Name: name}); return nil }); err != nil {
		t.Fatal(err)
	}
}

// wantUsers compares the index with lines of the form "key: names".
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
		t.Errorf("index by users (-want +got):\n%s", diff)
	}
}

func TestMirrorCache(t *testing.T) {
	s := mustNew(t)
	foo := object.Key{Name: "foo"}
	for _, value := range []string{"bar", "baz"} {
		put(t, s, withUsers("foo", value))
		if got, ok := s.Snapshot().Get(foo); !ok || got.Annotations["users"] != value {
			t.Errorf("Get(foo) = %v, %v, want users %s", got, ok, value)
		}
	}
	deleteKey(t, s, "foo")
	if _, ok := s.Snapshot().Get(foo); ok {
		t.Error("Get(foo) finds the deleted object")
	}
	put(t, s, withUsers("a", "b"), withUsers("c", "d"), withUsers("e", "e"))
	var values []string
	for _, obj := range s.Snapshot().List("", nil) {
		values = append(values, obj.Annotations["users"])
	}
	if slices.Sort(values); !slices.Equal(values, []string{"b", "d", "e"}) {
		t.Errorf("List returns users %q, want b, d and e", values)
	}
}

func TestMirrorIndex(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, withUsers("a", "b"), withUsers("c", "b"), withUsers("e", "f"), withUsers("g", "h"))
	wantUsers(t, s, "b: a c", "f: e", "h: g")
}

func TestMirrorGetIndexFuncValues(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, withUsers("one", "bar"), withUsers("two", "bar"), withUsers("tre", "biz"))
	if got := slices.Sorted(byUsers.Keys(s.Snapshot())); !slices.Equal(got, []string{"bar", "biz"}) {
		t.Errorf("Keys yields %q, want bar and biz", got)
	}
}

func TestMirrorMultiIndexKeys(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, withUsers("one", "ernie,bert"), withUsers("two", "bert,oscar"), withUsers("tre", "ernie,elmo"))
	wantUsers(t, s, "bert: one two", "elmo: tre", "ernie: one tre", "oscar: two")
	if n := byUsers.Len(s.Snapshot(), "elmo1"); n != 0 {
		t.Errorf("Len(elmo1) = %d, want 0", n)
	}
	deleteKey(t, s, "tre")
	wantUsers(t, s, "bert: one two", "ernie: one", "oscar: two")
	put(t, s, withUsers("two", "oscar"))
	wantUsers(t, s, "bert: one", "ernie: one", "oscar: two")
}

func TestMirrorThreadSafeStoreIndexingFunctionsWithMultipleValues(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, withUsers("key1", "foo"), withUsers("key2", "bar"))
	wantUsers(t, s, "bar: key2", "foo: key1")
	put(t, s, withUsers("key2", "foo,bar"))
	wantUsers(t, s, "bar: key2", "foo: key1 key2")
	put(t, s, withUsers("key1", "foo,bar"))
	wantUsers(t, s, "bar: key1 key2", "foo: key1 key2")
	put(t, s, withUsers("key3", "foo,bar,baz"))
	wantUsers(t, s, "bar: key1 key2 key3", "baz: key3", "foo: key1 key2 key3")
	put(t, s, withUsers("key1", "foo"))
	wantUsers(t, s, "bar: key2 key3", "baz: key3", "foo: key1 key2 key3")
	put(t, s, withUsers("key2", "bar"))
	wantUsers(t, s, "bar: key2 key3", "baz: key3", "foo: key1 key3")
	deleteKey(t, s, "key1")
	wantUsers(t, s, "bar: key2 key3", "baz: key3", "foo: key3")
	deleteKey(t, s, "key3")
	wantUsers(t, s, "bar: key2")
}

// TestMirrorThreadSafeStoreEmptySets deletes the only object of one key, and one of two objects of
// another.
func TestMirrorThreadSafeStoreEmptySets(t *testing.T) {
	s := mustNew(t, byUsers)
	put(t, s, withUsers("only", "one"), withUsers("retain", "two"), withUsers("delete", "two"))
	deleteKey(t, s, "only")
	deleteKey(t, s, "delete")
	wantUsers(t, s, "two: retain")
}

// TestMirrorThreadSafeStoreRV differs from client-go in one point: only the writer sets the store's
// version, never an object.
func TestMirrorThreadSafeStoreRV(t *testing.T) {
	s := mustNew(t)
	want := func(version string) {
		t.Helper()
		if got := s.Snapshot().ResourceVersion(); got != version {
			t.Errorf("ResourceVersion() = %q, want %q", got, version)
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
	obj := withUsers("key1", "x")
	obj.ResourceVersion = "10"
	put(t, s, obj)
	want("") // differs from client-go
	at("10", func(x *store.Txn[*thing]) error { return x.Set(obj) })
	at("30", func(x *store.Txn[*thing]) error { x.Delete(object.KeyOf(obj)); return nil })
	at("50", func(x *store.Txn[*thing]) error { return x.Set(withUsers("key2", "y")) })
	deleteKey(t, s, "key2")
	want("50")
	at("123", func(*store.Txn[*thing]) error { return nil }) // a bookmark
	at("5", func(*store.Txn[*thing]) error { return nil })   // an older full state
}
