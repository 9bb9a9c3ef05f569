// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

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
	v.wantObjects("All", s.All(), each)
	v.wantObjects(`Namespace("")`, s.Namespace(""), each)
	v.wantObjects("Select(nil)", s.Select(nil), each)
	v.wantObjects("List of everything", slices.Values(s.List("", labels.Everything())), each)

	namespaces := distinct(v, func(obj Object) []string { return []string{obj.Namespace} })
	wantKeys(t, "Namespaces", s.Namespaces(), namespaces)
	for namespace := range namespaces {
		in := func(obj Object) bool { return obj.Namespace == namespace }
		v.wantObjects("Namespace "+namespace, s.Namespace(namespace), in)
		v.wantObjects("List of "+namespace, slices.Values(s.List(namespace, nil)), in)
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
		v.wantObjects("Select "+text, s.Select(selector), matches)
		v.wantObjects("List of red, "+text, slices.Values(s.List("red", selector)), func(obj Object) bool {
			return obj.Namespace == "red" && matches(obj)
		})
	}
	verifyIndex(v, s, byColor, colors)
	verifyIndex(v, s, bySize, sizes)
	verifyIndex(v, s, byTags, tags)
	verifyIndex(v, s, byLocalColor, localColors)
}

func verifyIndex[K comparable](v verifier, s *store.Snapshot[Object], index *store.Index[Object, K], keysOf func(Object, []K) []K) {
	v.t.Helper()
	keys := distinct(v, func(obj Object) []K { return keysOf(obj, nil) })
	wantKeys(v.t, index.Name()+": Keys", index.Keys(s), keys)
	for key := range keys {
		has := func(obj Object) bool { return slices.Contains(keysOf(obj, nil), key) }
		v.wantObjects(fmt.Sprintf("%s: Lookup of %v", index.Name(), key), index.Lookup(s, key), has)
		v.wantObjects(fmt.Sprintf("%s: List of %v", index.Name(), key), slices.Values(index.List(s, key)), has)
		if n := index.Len(s, key); n != v.count(has) {
			v.t.Fatalf("%s: Len(%v) = %d, want %d", index.Name(), key, n, v.count(has))
		}
		for _, namespace := range []string{"", "red", "green", "blue"} {
			in := func(obj Object) bool { return has(obj) && (namespace == "" || obj.Namespace == namespace) }
			v.wantObjects(fmt.Sprintf("%s: LookupIn %s of %v", index.Name(), namespace, key), index.LookupIn(s, namespace, key), in)
			v.wantObjects(fmt.Sprintf("%s: ListIn %s of %v", index.Name(), namespace, key), slices.Values(index.ListIn(s, namespace, key)), in)
		}
	}
}

type verifier struct {
	t     *testing.T
	model map[object.Key]Object
}

// wantObjects fails unless seq yields each of the model's objects accepted by has once, in its
// present state, and no other.
func (v verifier) wantObjects(what string, seq iter.Seq[Object], has func(Object) bool) {
	v.t.Helper()
	seen := map[object.Key]bool{}
	for obj := range seq {
		key := object.KeyOf(obj)
		want := v.model[key]
		switch {
		case seen[key]:
			v.t.Fatalf("%s: yields %s twice", what, key)
		case want == nil || !has(want):
			v.t.Fatalf("%s: yields %s, which it must not", what, key)
		case want.ResourceVersion != obj.ResourceVersion:
			v.t.Fatalf("%s: yields %s at resourceVersion %s, want %s", what, key, obj.ResourceVersion, want.ResourceVersion)
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

func wantKeys[K comparable](t *testing.T, what string, got iter.Seq[K], want map[K]bool) {
	t.Helper()
	seen := map[K]bool{}
	for key := range got {
		if seen[key] || !want[key] {
			t.Fatalf("%s: yields %v twice, or must not yield it", what, key)
		}
		seen[key] = true
	}
	if len(seen) != len(want) {
		t.Fatalf("%s: %d keys, want %d", what, len(seen), len(want))
	}
}
