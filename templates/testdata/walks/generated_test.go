// SPDX-License-Identifier: Apache-2.0

// Package walks runs what is generated for the model of that name. TestGeneratedCodeCompiles
// copies this file beside it.
package walks

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	api "example.com/project/walks/api/v1alpha1"
	"example.com/project/walks/generated/informers"
	walksinformers "example.com/project/walks/generated/informers/samples/v1alpha1"
	"example.com/project/walks/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestKeys has two objects for each index: one with every part that the path names, and one with nil wherever there
// can be one. The first must be found by all of its keys, the second by none.
func TestKeys(t *testing.T) {
	a, b := "a", "b"
	full := &api.Walk{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "full"},
		Spec: api.Spec{
			Name: "plain", Ref: &a, Refs: []*string{nil, &a, nil, &b}, Names: []string{a, b}, Pair: [2]string{a, b},
			Target: &api.Target{Name: a, Names: []string{a, b}, Next: &api.Target{Ref: &b}},
			Targets: []api.Target{
				{},
				{Rules: []api.Rule{{}, {Paths: []string{a}}, {Paths: []string{b, b}}}},
			},
			Pointers: []*api.Target{
				nil,
				{},
				{Next: &api.Target{Rules: []api.Rule{{}, {Ref: &a}}}},
				{Next: &api.Target{Rules: []api.Rule{{Ref: &b}}}},
			},
			Optional:        &[]string{a, b},
			OptionalTargets: &[]api.Target{{Name: a}, {Name: b}},
		},
	}
	bare := &api.Walk{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bare"},
		Spec:       api.Spec{Pair: [2]string{"x", "y"}},
	}
	empty := bare.Spec
	half := &api.Walk{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "half"}, Spec: empty}
	half.Spec.Target = &api.Target{}
	half.Spec.Pointers = []*api.Target{{}}

	s, err := store.New(v1alpha1.WalkIndexes()...)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(func(x *store.Txn[*api.Walk]) error {
		for _, obj := range []*api.Walk{full, bare, half} {
			if err := x.Set(obj); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lister := v1alpha1.NewWalkLister(s)
	for name, tt := range map[string]struct {
		find func(string) []*api.Walk
		keys []string // of full
		in   *store.Index[*api.Walk, string]
		more []string // keys of the others
	}{
		"ByPlain":             {lister.ListByPlain, []string{"plain"}, v1alpha1.WalkByPlain(), []string{""}},
		"ByPointer":           {lister.ListByPointer, []string{a}, v1alpha1.WalkByPointer(), nil},
		"ByPointerStruct":     {lister.ListByPointerStruct, []string{a}, v1alpha1.WalkByPointerStruct(), []string{""}},
		"ByPointers":          {lister.ListByPointers, []string{b}, v1alpha1.WalkByPointers(), nil},
		"BySlice":             {lister.ListBySlice, []string{a, b}, v1alpha1.WalkBySlice(), nil},
		"BySlicePointers":     {lister.ListBySlicePointers, []string{a, b}, v1alpha1.WalkBySlicePointers(), nil},
		"ByArray":             {lister.ListByArray, []string{a, b}, v1alpha1.WalkByArray(), []string{"x", "y"}},
		"BySliceUnderPointer": {lister.ListBySliceUnderPointer, []string{a, b}, v1alpha1.WalkBySliceUnderPointer(), nil},
		"ByPointerSlice":      {lister.ListByPointerSlice, []string{a, b}, v1alpha1.WalkByPointerSlice(), nil},
		"ByPointerSliceElem":  {lister.ListByPointerSliceElem, []string{a, b}, v1alpha1.WalkByPointerSliceElem(), nil},
		"ByNested":            {lister.ListByNested, []string{a, b}, v1alpha1.WalkByNested(), nil},
		"ByNestedPointers":    {lister.ListByNestedPointers, []string{a, b}, v1alpha1.WalkByNestedPointers(), nil},
	} {
		for _, key := range tt.keys {
			if got := tt.find(key); !slices.Equal(got, []*api.Walk{full}) {
				t.Errorf("%s(%q) found %d objects, want the one that has all parts", name, key, len(got))
			}
		}
		want := slices.Sorted(slices.Values(append(slices.Clone(tt.keys), tt.more...)))
		if got := slices.Sorted(tt.in.Keys(s.Snapshot())); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %q, want %q", name, got, want)
		}
		if tt.in.Name() != name {
			t.Errorf("%s is called %q", name, tt.in.Name())
		}
	}
	if got := slices.Collect(lister.ByPlain("plain")); !slices.Equal(got, []*api.Walk{full}) {
		t.Errorf("ByPlain yielded %d objects", len(got))
	}
}

func TestLister(t *testing.T) {
	s, err := store.New(v1alpha1.WalkIndexes()...)
	if err != nil {
		t.Fatal(err)
	}
	blue := &api.Walk{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
	if err := s.Update(func(x *store.Txn[*api.Walk]) error { return x.Set(blue) }); err != nil {
		t.Fatal(err)
	}
	lister := v1alpha1.NewWalkLister(s)
	if got, err := lister.Walks("shop").Get("blue"); got != blue || err != nil {
		t.Errorf("Get = %v, %v", got, err)
	}
	_, err = lister.Walks("other").Get("blue")
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "walks.samples.example.com") {
		t.Errorf("Get in another namespace: %v", err)
	}
	if all, err := lister.List(nil); len(all) != 1 || err != nil {
		t.Errorf("List = %v, %v", all, err)
	}
}

func TestFactory(t *testing.T) {
	factory := informers.NewSharedInformerFactory(nil)
	walks := factory.Samples().V1alpha1().Walks()
	if walks.Informer() != factory.Samples().V1alpha1().Walks().Informer() {
		t.Error("two calls gave two informers")
	}
	if walks.Informer() != factories.For[*api.Walk](factory, v1alpha1.WalkResource()) {
		t.Error("factories.For gave another informer")
	}
	generic, err := factory.ForResource(v1alpha1.WalkResource())
	if err != nil || generic.Informer() == nil {
		t.Errorf("ForResource = %v, %v", generic, err)
	}
	_, err = factory.ForResource(schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "things"})
	if err == nil || !strings.Contains(err.Error(), "things") {
		t.Errorf("ForResource of something else: %v", err)
	}
	if err := factory.Start(t.Context()); err == nil {
		t.Error("Start without a client: want an error")
	}
}

func TestOptions(t *testing.T) {
	client, err := source.NewClient(&rest.Config{Host: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, walksinformers.WithWalks(factories.KindOptions[*api.Walk]{
		Namespaces: []string{"shop", "store"},
		Transform:  func(w *api.Walk) (*api.Walk, error) { return w, nil },
	}))
	walks := factory.Samples().V1alpha1().Walks()
	if walks.Informer() != walks.With(factories.KindOptions[*api.Walk]{Namespaces: []string{"store", "shop"}}).Informer() {
		t.Error("the namespaces that WithWalks has given are not those of the informer")
	}
	one := walks.With(factories.KindOptions[*api.Walk]{Namespaces: []string{"shop"}})
	if one.Informer() == walks.Informer() {
		t.Error("another namespace gave the same informer")
	}
	if one.Informer() != walks.With(factories.KindOptions[*api.Walk]{Namespaces: []string{"shop"}}).Informer() {
		t.Error("the same namespace gave another informer")
	}
	if got := slices.Collect(one.Lister().ByPlain("plain")); len(got) != 0 {
		t.Errorf("an informer that never ran has %d objects", len(got))
	}
}
