// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestUpdateWithoutManagedFieldsKeepsOwners: the server keeps the owners of an object that is
// updated from a cache without managedFields.
func TestUpdateWithoutManagedFieldsKeepsOwners(t *testing.T) {
	t.Parallel()
	ns, ctx := shared.widgets(t), deadline(t)
	client := connect(t, shared.url)
	f := factories.New(client, informer.WithNamespace(ns.namespace), informer.WithoutManagedFields())
	cache := factories.For[*v1alpha1.Widget](f, listers.WidgetResource())
	runSynced(t, f)
	widgets, err := newWriter(client)
	if err != nil {
		t.Fatal(err)
	}
	created, token, err := widgets.Create(ctx, &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: ns.namespace, Name: "blue", Labels: map[string]string{"tier": "gold"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.AwaitToken(ctx, token); err != nil {
		t.Fatal(err)
	}
	cached, ok := cache.Store().Snapshot().Get(object.KeyOf(created))
	if !ok || cached.ManagedFields != nil || created.ManagedFields == nil {
		t.Fatalf("the cache has %+v of %+v, want it without managedFields", cached, created)
	}
	changed := cached.DeepCopy()
	changed.Spec.NodeName = "node-7"
	updated, _, err := widgets.Update(ctx, changed)
	if err != nil {
		t.Fatal(err)
	}
	keeps := slices.ContainsFunc(updated.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "vending" && m.FieldsV1 != nil
	})
	if !keeps || updated.Labels["tier"] != "gold" {
		t.Errorf("the server has labels %v and managedFields %+v after the update, want those from before", updated.Labels, updated.ManagedFields)
	}
}
