// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// mine restricts an informer to objects with a label.
var mine = informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"of": "mine"}))

// managers returns the managers of an object's fields, by operation and subresource.
func managers(obj metav1.Object) (all []string) {
	for _, m := range obj.GetManagedFields() {
		all = append(all, m.Manager+" "+string(m.Operation)+" "+m.Subresource)
	}
	slices.Sort(all)
	return all
}

// Two managers apply parts of one object: each owns what it has set, and no more.
func TestApply(t *testing.T) {
	t.Parallel()
	ns := shared.widgets(t)
	cache, ctx := ns.cache(t), deadline(t)
	done := written(t, cache)
	planner := ns.writer(t, writer.Options{FieldManager: "planner"})
	mechanic := ns.writer(t, writer.Options{FieldManager: "mechanic"})
	boss := ns.writer(t, writer.Options{FieldManager: "mechanic", Force: true})
	of := func(change func(*v1alpha1.Widget)) *v1alpha1.Widget {
		w := ns.widget("blue")
		change(w)
		return w
	}

	planned := of(func(w *v1alpha1.Widget) { w.Spec.NodeName, w.Spec.Tier = "node-1", v1alpha1.Gold })
	created := done(planner.Apply(ctx, planned))
	if again := done(planner.Apply(ctx, planned)); again.ResourceVersion != created.ResourceVersion {
		t.Errorf("the same apply leads from %s to %s", created.ResourceVersion, again.ResourceVersion)
	}
	both := done(mechanic.Apply(ctx, of(func(w *v1alpha1.Widget) { w.Spec.Parts = []v1alpha1.Part{{Name: "motor", Image: "motor:1"}} })))
	if both.Spec.NodeName != "node-1" || len(both.Spec.Parts) != 1 {
		t.Errorf("together they have applied %+v", both.Spec)
	}

	silver := of(func(w *v1alpha1.Widget) { w.Spec.Tier = v1alpha1.Silver })
	if _, _, err := mechanic.Apply(ctx, silver); !apierrors.IsConflict(err) {
		t.Errorf("a field of another manager: %v", err)
	}
	forced := done(boss.Apply(ctx, silver)) // which no longer has the parts
	if forced.Spec.Tier != v1alpha1.Silver || forced.Spec.NodeName != "node-1" || forced.Spec.Parts != nil {
		t.Errorf("forced to %+v", forced.Spec)
	}

	sick := of(func(w *v1alpha1.Widget) { w.Status.Phase = v1alpha1.Broken })
	healthy := done(mechanic.ApplyStatus(ctx, sick))
	if healthy.Status.Phase != v1alpha1.Broken || healthy.Spec.Tier != v1alpha1.Silver {
		t.Errorf("with a status: %+v", healthy)
	}
	raw := `{"apiVersion":"samples.informer-gen.dev/v1alpha1","kind":"Widget","status":{"phase":"Running","runningParts":0}}`
	healthy = done(mechanic.PatchStatus(ctx, object.KeyOf(healthy), types.ApplyPatchType, []byte(raw)))
	if healthy.Status.Phase != v1alpha1.Running {
		t.Errorf("with another status: %+v", healthy)
	}
	if got, want := managers(healthy), []string{"mechanic Apply ", "mechanic Apply status", "planner Apply "}; !slices.Equal(got, want) {
		t.Errorf("the managers are %q, want %q", got, want)
	}
	if _, _, err := mechanic.ApplyStatus(ctx, ns.widget("red")); !apierrors.IsNotFound(err) {
		t.Errorf("the status of no object: %v", err)
	}

	// A plain write is under the name, too.
	updated := done(planner.AddFinalizer(ctx, healthy, "example.com/plan"))
	if got := managers(updated); !slices.Contains(got, "planner Update ") {
		t.Errorf("the managers are %q", got)
	}
	done(planner.RemoveFinalizer(ctx, updated, "example.com/plan"))
}

// Kinds that have protobuf are written in it.
func TestWritesInProtobuf(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	ctx := deadline(t)
	w, err := writer.New[*apiextensionsv1.CustomResourceDefinition](connect(t, c.url), crds, writer.Options{FieldManager: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	free := true
	created, token, err := w.Create(ctx, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "lamps.writes.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "writes.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lamps", Kind: "Lamp"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &free}}}},
		},
	})
	if err != nil || created.Kind != "CustomResourceDefinition" || created.Spec.Names.ListKind != "LampList" || token.UID != created.UID {
		t.Fatalf("created %+v, %+v, %v", created, token, err)
	}
	// The server's own controllers write to it, too.
	changed, _, err := w.Mutate(ctx, created, func(crd *apiextensionsv1.CustomResourceDefinition) error {
		crd.Annotations = map[string]string{"colour": "blue"}
		crd.Spec.Names.ShortNames = []string{"lp"}
		return nil
	})
	if err != nil || changed.Annotations["colour"] != "blue" || changed.Generation != 2 {
		t.Errorf("changed to %+v, %v", changed, err)
	}
	if token, err = w.Delete(ctx, created, metav1.DeleteOptions{}); err != nil || token.Gone {
		t.Errorf("a definition has a finalizer of the server's, but the delete's token is %+v, %v", token, err)
	}
}
