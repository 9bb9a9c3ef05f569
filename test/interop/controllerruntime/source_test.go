// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestControllerOnOurInformers runs a controller of controller-runtime with the events of one of
// our informers, which the manager runs.
func TestControllerOnOurInformers(t *testing.T) {
	writer := newWriter(t)
	namespace := newNamespace(t, writer)
	sources, err := source.NewClient(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := factories.New(sources, informer.WithNamespace(namespace))
	configMaps := factories.For[*corev1.ConfigMap](factory, corev1.SchemeGroupVersion.WithResource("configmaps"))
	mgr := newManager(t, server.Config(), cache.New, nil)
	if err := mgr.Add(controllerruntime.Runnable(factory)); err != nil {
		t.Fatal(err)
	}
	var seen recorder
	named := predicate.NewTypedPredicateFuncs(func(obj *corev1.ConfigMap) bool { return obj.Name != "ignored" })
	err = ctrl.NewControllerManagedBy(mgr).
		Named("ours").
		WatchesRawSource(controllerruntime.Source(configMaps, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{}, named)).
		Complete(reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			if _, ok := configMaps.Store().Snapshot().Get(object.Key(r.NamespacedName)); ok {
				seen.add("%s is there", r.Name)
			} else {
				seen.add("%s is gone", r.Name)
			}
			return reconcile.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	write := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "first"}}
	write(writer.Create(t.Context(), first))
	write(writer.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ignored"}}))
	end := runManager(t, mgr)
	seen.has(t, "first is there")
	first.Data = map[string]string{"a": "1"}
	write(writer.Update(t.Context(), first))
	seen.has(t, "first is there", "first is there")
	write(writer.Delete(t.Context(), first))
	seen.has(t, "first is there", "first is there", "first is gone")
	write(end())
	if s := configMaps.Status(); s.Running || slices.ContainsFunc(s.Handlers, func(h informer.HandlerStatus) bool { return h.Name != "" }) {
		t.Errorf("after the end: %v, handlers %v", s, s.Handlers)
	}
}
