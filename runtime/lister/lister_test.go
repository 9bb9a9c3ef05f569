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

// What generated listers rely on.
var (
	_ lister.Lister[*thing]          = (*lister.Resource[*thing])(nil)
	_ lister.NamespaceLister[*thing] = (*lister.Resource[*thing])(nil)
	_ lister.ClusterLister[*thing]   = (*lister.Resource[*thing])(nil)
)

var resource = schema.GroupResource{Group: "samples.example.com", Resource: "things"}

// newStore has these objects.
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

// named has the label name=name.
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
		what string
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
			t.Errorf("%s: %v, want %v", tc.what, got, tc.want)
		}
		if list == nil {
			t.Errorf("%s: a nil slice", tc.what)
		}
	}
	if got, want := names(t, slices.Collect(s.All()), nil), []string{"x/a", "x/b", "y/a"}; !slices.Equal(got, want) {
		t.Errorf("All: %v, want %v", got, want)
	}
	if got, want := names(t, slices.Collect(s.Namespace("x").All()), nil), []string{"x/a", "x/b"}; !slices.Equal(got, want) {
		t.Errorf("All of x: %v, want %v", got, want)
	}
}

func TestGetByNamespaceAndName(t *testing.T) {
	s := lister.New(newStore(t, named("x", "a"), named("", "node")), resource)
	for _, tc := range []struct {
		what, name string
		get        func(string) (*thing, error)
		want       bool
	}{
		{"in its namespace", "a", s.Namespace("x").Get, true},
		{"in another namespace", "a", s.Namespace("y").Get, false},
		{"of a name that nothing has", "b", s.Namespace("x").Get, false},
		{"cluster-scoped", "node", s.Get, true},
		{"cluster-scoped, by namespace \"\"", "node", s.Namespace("").Get, true},
		{"namespaced, asked as cluster-scoped", "a", s.Get, false},
		{"cluster-scoped, asked in a namespace", "node", s.Namespace("x").Get, false},
	} {
		obj, err := tc.get(tc.name)
		if tc.want {
			if err != nil || obj.Name != tc.name {
				t.Errorf("%s: %v, %v", tc.what, obj, err)
			}
			continue
		}
		if obj != nil || !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v, %v, want nil and a NotFound", tc.what, obj, err)
		} else if want := `things.samples.example.com "` + tc.name + `" not found`; err.Error() != want {
			t.Errorf("%s: error %q, want %q", tc.what, err, want)
		}
	}
}

// TestEachCallSeesTheNewest: a lister holds no snapshot, also not the sequences that it returned.
func TestEachCallSeesTheNewest(t *testing.T) {
	backing := newStore[*thing](t)
	s := lister.New(backing, resource)
	all := s.All()
	if n := len(slices.Collect(all)); n != 0 {
		t.Errorf("%d objects in an empty store", n)
	}
	if err := backing.Update(func(x *store.Txn[*thing]) error {
		return x.Set(&thing{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	}); err != nil {
		t.Fatal(err)
	}
	if n := len(slices.Collect(all)); n != 1 {
		t.Errorf("%d objects when the loop begins after the change, want 1", n)
	}
	if s.Snapshot() != backing.Snapshot() {
		t.Error("Snapshot isn't the newest")
	}
}

func TestZeroResourceIsEmpty(t *testing.T) {
	var s lister.Resource[*thing]
	list, err := s.List(nil)
	if err != nil || len(list) != 0 || s.Snapshot().Len() != 0 {
		t.Errorf("%v, %v", list, err)
	}
	x := s.Namespace("x")
	if _, err := x.Get("a"); !apierrors.IsNotFound(err) {
		t.Errorf("Get: %v", err)
	}
	if x.InNamespace() != "x" || x.Namespace("y").InNamespace() != "y" || x.Namespace("").InNamespace() != "" {
		t.Error("not the namespace that was asked for")
	}
}

// syncing is a store that publishes its next state at each read, up to the last.
type syncing []*store.Snapshot[*thing]

func (s *syncing) Snapshot() *store.Snapshot[*thing] {
	now := (*s)[0]
	if len(*s) > 1 {
		*s = (*s)[1:]
	}
	return now
}

// TestAReadDuringTheFirstSyncMissesNothing: an informer that has synced by now may have been empty
// when the read began.
func TestAReadDuringTheFirstSyncMissesNothing(t *testing.T) {
	states := syncing{newStore[*thing](t).Snapshot(), newStore(t, named("shop", "blue")).Snapshot()}
	before := states
	if _, err := lister.New[*thing](&before, resource).Namespace("shop").Get("blue"); err != nil {
		t.Error(err)
	}
	before = states
	list, err := lister.New[*thing](&before, resource).List(nil)
	if got := names(t, list, err); !slices.Equal(got, []string{"shop/blue"}) {
		t.Errorf("got %v", got)
	}
}
