// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type thing = metav1.PartialObjectMetadata

// Generated listers rely on these.
var (
	_ lister.Lister[*thing]          = (*lister.Resource[*thing])(nil)
	_ lister.NamespaceLister[*thing] = (*lister.Resource[*thing])(nil)
	_ lister.ClusterLister[*thing]   = (*lister.Resource[*thing])(nil)
)

var resource = schema.GroupResource{Group: "samples.example.com", Resource: "things"}

// newStore returns a store of these objects.
func newStore[T object.Object](t interface{ Fatal(...any) }, objs ...T) *store.Store[T] {
	s, err := store.New[T]()
	if err == nil {
		err = s.Update(func(x *store.Txn[T]) error {
			for _, obj := range objs {
				if err := x.Set(obj); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// named returns an object with the label name=NAME.
func named(namespace, name string) *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"name": name}}}
}

// names returns the sorted "namespace/name" of the list.
func names(t *testing.T, list []*thing, err error) []string {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	names := []string{}
	for _, obj := range list {
		names = append(names, obj.Namespace+"/"+obj.Name)
	}
	slices.Sort(names)
	return names
}

func TestListByNamespaceAndSelector(t *testing.T) {
	s := lister.New(newStore(t, named("x", "a"), named("x", "b"), named("y", "a")), resource)
	a := labels.SelectorFromSet(labels.Set{"name": "a"})
	for _, tc := range []struct {
		name string
		list func(labels.Selector) ([]*thing, error)
		sel  labels.Selector
		want []string
	}{
		{"all, nil selector", s.List, nil, []string{"x/a", "x/b", "y/a"}},
		{"all, everything", s.List, labels.Everything(), []string{"x/a", "x/b", "y/a"}},
		{"all, name a", s.List, a, []string{"x/a", "y/a"}},
		{"all, nothing", s.List, labels.Nothing(), []string{}},
		{"x, nil selector", s.Namespace("x").List, nil, []string{"x/a", "x/b"}},
		{"x, name a", s.Namespace("x").List, a, []string{"x/a"}},
		{"z", s.Namespace("z").List, nil, []string{}},
		{"namespace \"\"", s.Namespace("").List, nil, []string{"x/a", "x/b", "y/a"}},
	} {
		list, err := tc.list(tc.sel)
		if got := names(t, list, err); !slices.Equal(got, tc.want) {
			t.Errorf("%s: List = %v, want %v", tc.name, got, tc.want)
		}
		if list == nil {
			t.Errorf("%s: List returns nil, want an empty slice", tc.name)
		}
	}
	if got, want := names(t, slices.Collect(s.All()), nil), []string{"x/a", "x/b", "y/a"}; !slices.Equal(got, want) {
		t.Errorf("All yields %v, want %v", got, want)
	}
	if got, want := names(t, slices.Collect(s.Namespace("x").All()), nil), []string{"x/a", "x/b"}; !slices.Equal(got, want) {
		t.Errorf("All of namespace x yields %v, want %v", got, want)
	}
}

func TestGetByNamespaceAndName(t *testing.T) {
	s := lister.New(newStore(t, named("x", "a"), named("", "node")), resource)
	for _, tc := range []struct {
		name, object string
		get          func(string) (*thing, error)
		want         bool
	}{
		{"in its namespace", "a", s.Namespace("x").Get, true},
		{"in another namespace", "a", s.Namespace("y").Get, false},
		{"missing", "b", s.Namespace("x").Get, false},
		{"cluster-scoped", "node", s.Get, true},
		{"cluster-scoped, in namespace \"\"", "node", s.Namespace("").Get, true},
		{"namespaced, looked up as cluster-scoped", "a", s.Get, false},
		{"cluster-scoped, looked up in a namespace", "node", s.Namespace("x").Get, false},
	} {
		obj, err := tc.get(tc.object)
		if tc.want {
			if err != nil || obj.Name != tc.object {
				t.Errorf("%s: Get(%q) = %v, %v", tc.name, tc.object, obj, err)
			}
			continue
		}
		if obj != nil || !apierrors.IsNotFound(err) {
			t.Errorf("%s: Get(%q) = %v, %v, want nil and a NotFound", tc.name, tc.object, obj, err)
		} else if want := `things.samples.example.com "` + tc.object + `" not found`; err.Error() != want {
			t.Errorf("%s: Get(%q) fails with %q, want %q", tc.name, tc.object, err, want)
		}
	}
}

// TestCallsReadTheNewestSnapshot checks that a lister and its sequences hold no snapshot.
func TestCallsReadTheNewestSnapshot(t *testing.T) {
	backing := newStore[*thing](t)
	s := lister.New(backing, resource)
	all := s.All()
	if n := len(slices.Collect(all)); n != 0 {
		t.Errorf("All of an empty store yields %d objects", n)
	}
	if err := backing.Update(func(x *store.Txn[*thing]) error {
		return x.Set(&thing{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	}); err != nil {
		t.Fatal(err)
	}
	if n := len(slices.Collect(all)); n != 1 {
		t.Errorf("All yields %d objects in a loop after the change, want 1", n)
	}
	if s.Snapshot() != backing.Snapshot() {
		t.Error("Snapshot() is not the newest snapshot")
	}
}

func TestZeroResourceIsEmpty(t *testing.T) {
	var s lister.Resource[*thing]
	list, err := s.List(nil)
	if err != nil || len(list) != 0 || s.Snapshot().Len() != 0 {
		t.Errorf("List of the zero Resource = %v, %v", list, err)
	}
	x := s.Namespace("x")
	if _, err := x.Get("a"); !apierrors.IsNotFound(err) {
		t.Errorf("Get of the zero Resource fails with %v, want a NotFound", err)
	}
	if x.InNamespace() != "x" || x.Namespace("y").InNamespace() != "y" || x.Namespace("").InNamespace() != "" {
		t.Error("InNamespace returns another namespace than Namespace was called with")
	}
}

// syncingStore is a Reader that moves on to its next snapshot at each read, up to the last.
type syncingStore []*store.Snapshot[*thing]

func (s *syncingStore) Snapshot() *store.Snapshot[*thing] {
	now := (*s)[0]
	if len(*s) > 1 {
		*s = (*s)[1:]
	}
	return now
}

// TestReadDuringFirstSyncIsComplete reads from an informer that syncs between two looks at its
// snapshot: it was empty when the read began.
func TestReadDuringFirstSyncIsComplete(t *testing.T) {
	states := syncingStore{newStore[*thing](t).Snapshot(), newStore(t, named("shop", "blue")).Snapshot()}
	before := states
	if _, err := lister.New[*thing](&before, resource).Namespace("shop").Get("blue"); err != nil {
		t.Errorf("Get fails with %v", err)
	}
	before = states
	list, err := lister.New[*thing](&before, resource).List(nil)
	if got := names(t, list, err); !slices.Equal(got, []string{"shop/blue"}) {
		t.Errorf("List = %v, want shop/blue", got)
	}
}
