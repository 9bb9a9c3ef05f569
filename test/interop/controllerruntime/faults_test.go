// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/devserver"
)

var boxes = schema.GroupVersionKind{Group: "samples.example", Version: "v1", Kind: "Box"}

// boxCRD defines a kind without a Go type.
func boxCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "boxes." + boxes.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: boxes.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "boxes", Singular: "box", Kind: boxes.Kind, ListKind: "BoxList"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: boxes.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)},
				},
			}},
		},
	}
}

func newBox(name string, size int64) *unstructured.Unstructured {
	box := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	box.SetGroupVersionKind(boxes)
	box.SetNamespace("default")
	box.SetName(name)
	return box
}

// TestServerFaults: a controller of unstructured objects goes on while its server is restarted,
// forgets its history, and loses and gets its CRD. Nothing is lost.
func TestServerFaults(t *testing.T) {
	bothEngines(t, testServerFaults)
}

func testServerFaults(t *testing.T, newCache cache.NewCacheFunc) {
	opts := devserver.Options{BuiltInKinds: true, Dir: t.TempDir(), CRDs: []*apiextensionsv1.CustomResourceDefinition{boxCRD()}}
	own, err := devserver.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	writer := newClientOf(t, own)
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	definitions, err := client.New(own.Config(), client.Options{Scheme: scheme, HTTPClient: httpClient(t, own.Config())})
	if err != nil {
		t.Fatal(err)
	}
	mgr := newManager(t, own.Config(), newCache, func(o *ctrl.Options) { o.Client.Cache = &client.CacheOptions{Unstructured: true} })
	reader := mgr.GetClient()
	err = ctrl.NewControllerManagedBy(mgr).For(newBox("", 0)).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		box := newBox("", 0)
		if err := reader.Get(ctx, r.NamespacedName, box); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		size, _, _ := unstructured.NestedInt64(box.Object, "spec", "size")
		if seen, ok, _ := unstructured.NestedInt64(box.Object, "status", "seen"); ok && seen == size {
			return reconcile.Result{}, nil
		}
		if err := unstructured.SetNestedField(box.Object, size, "status", "seen"); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, reader.Status().Update(ctx, box)
	}))
	if err != nil {
		t.Fatal(err)
	}
	runManager(t, mgr)
	written := int64(0)
	works := func(after, name string) {
		t.Helper()
		written++
		size := written
		eventually(t, func() error {
			box := newBox(name, size)
			err := writer.Create(t.Context(), box)
			if apierrors.IsAlreadyExists(err) {
				if err = writer.Get(t.Context(), client.ObjectKeyFromObject(box), box); err == nil {
					box.Object["spec"] = map[string]any{"size": size}
					err = writer.Update(t.Context(), box)
				}
			}
			return err
		})
		eventually(t, func() error {
			box := newBox(name, 0)
			if err := reader.Get(t.Context(), client.ObjectKeyFromObject(box), box); err != nil {
				return fmt.Errorf("%s: %w", after, err)
			}
			if seen, _, _ := unstructured.NestedInt64(box.Object, "status", "seen"); seen != size {
				return fmt.Errorf("%s: the status has %d; want %d", after, seen, size)
			}
			return nil
		})
	}
	works("at first", "a")

	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	opts.Addr, opts.CRDs = strings.TrimPrefix(own.URL(), "http://"), nil
	eventually(t, func() error { own, err = devserver.Start(t.Context(), opts); return err })
	works("after a restart", "a")
	works("after a restart", "b")

	if err := own.ExpireWatches(t.Context()); err != nil {
		t.Fatal(err)
	}
	works("after a 410", "a")

	if err := definitions.Delete(t.Context(), boxCRD()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		crd := boxCRD()
		if err := definitions.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the CRD is still there: %v", err)
		}
		return nil
	})
	if err := own.InstallCRDs(t.Context(), boxCRD()); err != nil {
		t.Fatal(err)
	}
	works("with a new CRD", "c")
	eventually(t, func() error {
		box := newBox("a", 0)
		if err := reader.Get(t.Context(), client.ObjectKeyFromObject(box), box); !apierrors.IsNotFound(err) {
			return fmt.Errorf("an object of the old CRD: %v", err)
		}
		return nil
	})
}
