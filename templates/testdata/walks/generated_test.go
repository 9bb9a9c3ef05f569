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
