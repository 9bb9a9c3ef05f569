// SPDX-License-Identifier: Apache-2.0

package realserver

import (
	"context"
	"errors"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

var crds = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// boats are the cluster-scoped custom resources of one group, written with client-go.
type boats struct {
	t    *testing.T
	gvr  schema.GroupVersionResource
	crds dynamic.ResourceInterface
	dynamic.ResourceInterface
}

func newBoats(t *testing.T, config *rest.Config, group string) boats {
	t.Helper()
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "boats"}
	return boats{t, gvr, c.Resource(crds), c.Resource(gvr)}
}

func (b boats) crdName() string { return b.gvr.GroupResource().String() }

// install creates the CustomResourceDefinition. The server serves it a moment later.
func (b boats) install() {
	b.t.Helper()
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": crds.GroupVersion().String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": b.crdName()},
		"spec": map[string]any{
			"group": b.gvr.Group, "scope": "Cluster",
			"names": map[string]any{"kind": "Boat", "listKind": "BoatList", "plural": "boats", "singular": "boat"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	if _, err := b.crds.Create(b.t.Context(), crd, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

// uninstall deletes the CustomResourceDefinition, and waits until the server has deleted the boats
// and it.
func (b boats) uninstall() {
	b.t.Helper()
	if err := b.crds.Delete(b.t.Context(), b.crdName(), metav1.DeleteOptions{}); err != nil {
		b.t.Fatal(err)
	}
	poll.Until(b.t, func() error {
		_, err := b.crds.Get(b.t.Context(), b.crdName(), metav1.GetOptions{})
		if err == nil {
			return errors.New("the deleted CustomResourceDefinition is still there")
		} else if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// create creates a boat. It tries until the server accepts creates.
func (b boats) create(name string) (created *unstructured.Unstructured) {
	b.t.Helper()
	boat := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": b.gvr.GroupVersion().String(), "kind": "Boat", "metadata": map[string]any{"name": name}, "berth": "a",
	}}
	poll.Until(b.t, func() (err error) {
		created, err = b.Create(b.t.Context(), boat, metav1.CreateOptions{})
		return err
	})
	return created
}

// run runs a factory until the test ends.
func run(t *testing.T, f *factories.Factory) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
		defer cancel()
		if err := f.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := f.Start(klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.NewConfig()))); err != nil {
		t.Fatal(err)
	}
}

// await receives the next value.
func await[T any](t *testing.T, c <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-c:
	case <-time.After(poll.Left(t)):
		t.Fatal("nothing has come")
	}
	return value
}
