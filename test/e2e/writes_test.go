// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

type (
	widgetWriter = *writer.Writer[*v1alpha1.Widget]
	widgetCache  = *informer.SharedIndexInformer[*v1alpha1.Widget]
)

func (i in) writer(t *testing.T, opts writer.Options) widgetWriter {
	t.Helper()
	w, err := writer.New[*v1alpha1.Widget](connect(t, i.cluster.url), i.gvr, opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// cache starts an informer of the namespace's Widgets.
func (i in) cache(t *testing.T, opts ...informer.Option) widgetCache {
	t.Helper()
	f := factories.New(connect(t, i.cluster.url), append([]informer.Option{informer.WithNamespace(i.namespace)}, opts...)...)
	cache := factories.For[*v1alpha1.Widget](f, listers.WidgetResource())
	runSynced(t, f)
	return cache
}

// widget gives a new Widget of the namespace.
func (i in) widget(name string) *v1alpha1.Widget {
	return &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: name}}
}

// written returns a function that takes the results of a write. It waits until the cache has the
// write, and returns the object.
func written(t *testing.T, cache widgetCache) func(*v1alpha1.Widget, object.Token, error) *v1alpha1.Widget {
	return func(w *v1alpha1.Widget, token object.Token, err error) *v1alpha1.Widget {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if want := object.TokenOf(listers.WidgetResource(), w); token != want || token.UID == "" || token.ResourceVersion == "" {
			t.Errorf("the token is %+v, want %+v", token, want)
		}
		if err := cache.AwaitToken(deadline(t), token); err != nil {
			t.Fatal(err)
		}
		cached, ok := cache.Store().Snapshot().Get(token.Key)
		switch {
		case token.Gone && ok:
			t.Errorf("%s is gone, and the cache has it at %s", token.Key, cached.ResourceVersion)
		case !token.Gone && (!ok || cached.ResourceVersion != token.ResourceVersion):
			t.Errorf("the cache has %s at %+v, want %s", token.Key, cached, token.ResourceVersion)
		}
		return w
	}
}

// One object through all writes, each of which the cache has once its token was awaited.
func TestWrites(t *testing.T) {
	t.Parallel()
	ns := shared.widgets(t)
	cache, w, ctx := ns.cache(t), ns.writer(t, writer.Options{}), deadline(t)
	done := written(t, cache)

	blue := ns.widget("blue")
	blue.Spec.NodeName = "node-1"
	created := done(w.Create(ctx, blue))
	if blue.UID != "" || blue.Kind != "" || created.Kind != "Widget" || created.Spec.Tier != v1alpha1.Bronze {
		t.Errorf("created %+v from %+v", created, blue)
	}
	if _, _, err := w.Create(ctx, blue); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second create: %v", err)
	}

	changed := created.DeepCopyObject().(*v1alpha1.Widget)
	changed.Spec.NodeName, changed.Status.Phase = "node-2", v1alpha1.Running
	updated := done(w.Update(ctx, changed))
	if updated.Spec.NodeName != "node-2" || updated.Status.Phase != "" {
		t.Errorf("updated to %+v", updated)
	}
	if again := done(w.Update(ctx, updated)); again.ResourceVersion != updated.ResourceVersion {
		t.Errorf("an update that changes nothing leads from %s to %s", updated.ResourceVersion, again.ResourceVersion)
	}
	if _, _, err := w.Update(ctx, changed); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old state: %v", err)
	}

	changed = updated.DeepCopyObject().(*v1alpha1.Widget)
	changed.Spec.NodeName, changed.Status.Phase = "node-3", v1alpha1.Running
	updated = done(w.UpdateStatus(ctx, changed))
	if updated.Spec.NodeName != "node-2" || updated.Status.Phase != v1alpha1.Running {
		t.Errorf("the status was updated to %+v", updated)
	}
	updated = done(w.MutateStatus(ctx, created, func(w *v1alpha1.Widget) error { w.Status.Phase = v1alpha1.Broken; return nil }))
	if updated.Spec.NodeName != "node-2" || updated.Status.Phase != v1alpha1.Broken {
		t.Errorf("the status was changed to %+v", updated)
	}

	key := object.KeyOf(created)
	done(w.Patch(ctx, key, types.MergePatchType, []byte(`{"spec":{"nodeName":"node-4"}}`)))
	done(w.Patch(ctx, key, types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/nodeName","value":"node-4"},{"op":"replace","path":"/spec/tier","value":"gold"}]`)))
	patched := done(w.PatchStatus(ctx, key, types.MergePatchType, []byte(`{"status":{"runningParts":3}}`)))
	if patched.Spec.NodeName != "node-4" || patched.Spec.Tier != v1alpha1.Gold || patched.Status.RunningParts != 3 || patched.Status.Phase != v1alpha1.Broken {
		t.Errorf("patched to %+v", patched)
	}
	if _, _, err := w.Patch(ctx, key, types.MergePatchType, []byte(`{"spec":{"tier":"lead"}}`)); !apierrors.IsInvalid(err) {
		t.Errorf("a patch to an invalid object: %v", err)
	}
	if got, err := w.Get(ctx, key); err != nil || got.ResourceVersion != patched.ResourceVersion {
		t.Errorf("got %+v, %v", got, err)
	}

	gone := object.TokenOf(ns.gvr, created)
	gone.Gone = true
	if token, err := w.Delete(ctx, created, metav1.DeleteOptions{}); err != nil || token != gone {
		t.Errorf("the delete's token is %+v, %v; want %+v", token, err, gone)
	}
	if err := cache.AwaitToken(ctx, gone); err != nil {
		t.Error(err)
	}
	if cached, ok := cache.Store().Snapshot().Get(key); ok {
		t.Errorf("the cache has %+v", cached)
	}
	if _, err := w.Get(ctx, key); !apierrors.IsNotFound(err) {
		t.Errorf("after the delete: %v", err)
	}
}
