// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// The tests of this file have the scenarios, and the names, of client-go's tests of listers;
// docs/client-go.md lists them.

func TestMirrorListAll(t *testing.T) {
	match := labels.SelectorFromSet(labels.Set{"match": "true"})
	for name, test := range map[string]struct {
		objects, matching int
		selector          labels.Selector
		want              int
	}{
		"subset match": {10_000, 1_000, match, 1_000},
		"all match":    {10_000, 0, labels.Everything(), 10_000},
		"no match":     {10_000, 0, match, 0},
		"nothing":      {10_000, 1_000, labels.Nothing(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			things := make([]*thing, test.objects)
			for n := range things {
				things[n] = &thing{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("obj-", n)}}
				if n < test.matching {
					things[n].Labels = map[string]string{"match": "true"}
				}
			}
			list, err := lister.New(fixed[*thing]{snapshotOf(t, things...)}, resource).List(test.selector)
			if err != nil || len(list) != test.want {
				t.Errorf("%d objects, %v; want %d", len(list), err, test.want)
			}
		})
	}
}

func TestNamespaceGetMethod(t *testing.T) {
	t.Run("dynamic", namespaceGet[*unstructured.Unstructured])
	t.Run("metadata", namespaceGet[*thing])
}

func TestNamespaceListMethod(t *testing.T) {
	t.Run("dynamic", namespaceList[*unstructured.Unstructured])
	t.Run("metadata", namespaceList[*thing])
}

func TestListerGetMethod(t *testing.T) {
	t.Run("dynamic", listerGet[*unstructured.Unstructured])
	t.Run("metadata", listerGet[*thing])
}

func TestListerListMethod(t *testing.T) {
	t.Run("dynamic", listerList[*unstructured.Unstructured])
	t.Run("metadata", listerList[*thing])
}

func namespaceGet[T object.Object](t *testing.T) {
	all := of[T](t, "ns-foo/name-foo", "ns-foo/name-foo1", "ns-bar/name-bar")
	got, err := all.Namespace("ns-foo").Get("name-foo1")
	if err != nil || object.KeyOf(got).String() != "ns-foo/name-foo1" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"name-foo-non-existing", "name-bar"} {
		if _, err := all.Namespace("ns-foo").Get(name); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func namespaceList[T object.Object](t *testing.T) {
	list, err := of[T](t, "ns-foo/name-foo", "ns-foo/name-foo1", "ns-bar/name-bar").Namespace("ns-foo").List(labels.Everything())
	wantKeys(t, list, err, "ns-foo/name-foo", "ns-foo/name-foo1")
}

func listerGet[T object.Object](t *testing.T) {
	all := of[T](t, "name-foo", "name-foo1", "ns-bar/name-bar")
	got, err := all.Get("name-foo1")
	if err != nil || object.KeyOf(got).String() != "name-foo1" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"name-foo-non-existing", "name-bar"} {
		if _, err := all.Get(name); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func listerList[T object.Object](t *testing.T) {
	list, err := of[T](t, "name-foo", "ns-foo/name-foo", "ns-bar/name-bar").List(labels.Everything())
	wantKeys(t, list, err, "name-foo", "ns-bar/name-bar", "ns-foo/name-foo")
}

// of returns a lister of objects with these keys.
func of[T object.Object](t *testing.T, keys ...string) *lister.Resource[T] {
	t.Helper()
	var objs []T
	for _, text := range keys {
		key, err := object.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		var obj any
		switch any(*new(T)).(type) {
		case *unstructured.Unstructured:
			obj = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "group/version", "kind": "TheKind",
				"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name}}}
		default:
			obj = &thing{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		}
		objs = append(objs, obj.(T))
	}
	return lister.New(fixed[T]{snapshotOf(t, objs...)}, resource)
}

func wantKeys[T object.Object](t *testing.T, list []T, err error, want ...string) {
	t.Helper()
	var got []string
	for _, obj := range list {
		got = append(got, object.KeyOf(obj).String())
	}
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}
