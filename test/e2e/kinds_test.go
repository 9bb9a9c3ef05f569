// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// objects lists the server's objects.
func (i collection) objects(t *testing.T) map[object.Key]*unstructured.Unstructured {
	t.Helper()
	list, err := i.client().List(deadline(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[object.Key]*unstructured.Unstructured{}
	for n := range list.Items {
		all[object.KeyOf(&list.Items[n])] = &list.Items[n]
	}
	return all
}

// sameMetadata asserts that a store has exactly the metadata of the server's objects.
func sameMetadata(t *testing.T, want map[object.Key]*unstructured.Unstructured, kind string, s store.Reader[*metav1.PartialObjectMetadata]) {
	t.Helper()
	snapshot := s.Snapshot()
	if snapshot.Len() != len(want) {
		t.Errorf("%d objects, the server has %d", snapshot.Len(), len(want))
	}
	for key, u := range want {
		full := &metav1.PartialObjectMetadata{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, full); err != nil {
			t.Fatal(err)
		}
		got, ok := snapshot.Get(key)
		if !ok {
			t.Errorf("the store lacks %s", key)
			continue
		}
		if diff := cmp.Diff(full.ObjectMeta, got.ObjectMeta); diff != "" {
			t.Errorf("metadata of %s (-server +store):\n%s", key, diff)
		}
		if kind != "" && got.Kind != kind {
			t.Errorf("%s is a %q, want %q", key, got.Kind, kind)
		}
	}
}

// sameObjects asserts that a store has exactly the objects of a dynamic client.
func sameObjects(t *testing.T, want map[object.Key]*unstructured.Unstructured, s store.Reader[*unstructured.Unstructured]) {
	t.Helper()
	snapshot := s.Snapshot()
	if snapshot.Len() != len(want) {
		t.Errorf("%d objects, the server has %d", snapshot.Len(), len(want))
	}
	for key, u := range want {
		got, ok := snapshot.Get(key)
		if !ok {
			t.Errorf("%s is missing", key)
		} else if diff := cmp.Diff(u.Object, got.Object); diff != "" {
			t.Errorf("%s (-server +store):\n%s", key, diff)
		}
	}
}

// TestMetadataInformer reads the metadata of custom resources and of built-in kinds, by watch-lists
// and by pages, with all fields of metadata.
func TestMetadataInformer(t *testing.T) {
	t.Parallel()
	for name, opts := range listModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.widgets(t)
			ns.createWidgets(t, 12)
			ns.patch(t, "widget-005", `{"metadata":{"annotations":{"note":"ü \" \\ \n"},"finalizers":["example.com/hold"]}}`)
			client, transport := connectRecording(t, shared.url)
			f := factories.New(client, opts...)
			i := factories.ForMetadata(f, ns.gvr, informer.WithNamespace(ns.namespace))
			definitions := factories.ForMetadata(f, crds, factories.WithClusterScope())
			h, _ := listen(t, i)
			runSynced(t, f)
			agree(t, ns.state(t), h, i.Store())
			sameMetadata(t, ns.objects(t), "", i.Store())
			sameMetadata(t, collection{shared, crds, ""}.objects(t), "", definitions.Store())

			// A change outside of the metadata changes the resourceVersion.
			ns.patch(t, "widget-001", `{"spec":{"nodeName":"node-9"}}`)
			ns.patch(t, "widget-002", `{"metadata":{"labels":{"parity":null,"new":"label"},"ownerReferences":[]}}`)
			ns.delete(t, "widget-003")
			ns.delete(t, "widget-005") // it has a finalizer
			ns.create(t, widget(20))
			agree(t, ns.state(t), h, i.Store())
			sameMetadata(t, ns.objects(t), "", i.Store())
			if callbacks := h.callbacks()[12:]; !slices.Equal(callbacks, []string{
				"update widget-001", "update widget-002", "delete widget-003", "update widget-005", "add widget-020",
			}) {
				t.Errorf("callbacks after the sync: %q", callbacks)
			}
			if got, _ := i.Store().Snapshot().Get(object.Key{Namespace: ns.namespace, Name: "widget-005"}); got.DeletionTimestamp == nil {
				t.Error("the store lacks the deletionTimestamp of widget-005")
			}
			ns.patch(t, "widget-005", `{"metadata":{"finalizers":null}}`)
			h.awaitLine("delete widget-005")
			selector := labels.SelectorFromSet(labels.Set{"new": "label"})
			if got := names(i.Store().Snapshot().List("", selector)); !slices.Equal(got, []string{"widget-002"}) {
				t.Errorf("List with a selector = %q, want widget-002", got)
			}
			transport.onlyAnswersIn(t, inProtobuf) // the server has whole widgets in JSON only
		})
	}
}

// TestUnstructuredInformer reads a custom resource and a built-in kind without their Go types.
func TestUnstructuredInformer(t *testing.T) {
	t.Parallel()
	for name, opts := range listModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.widgets(t)
			ns.createWidgets(t, 12)
			f := factories.New(connect(t, shared.url), opts...)
			i := factories.For[*unstructured.Unstructured](f, ns.gvr, informer.WithNamespace(ns.namespace))
			definitions := factories.For[*unstructured.Unstructured](f, crds, factories.WithClusterScope())
			h, _ := listen(t, i)
			runSynced(t, f)
			agree(t, ns.state(t), h, i.Store())
			sameObjects(t, ns.objects(t), i.Store())
			sameObjects(t, collection{shared, crds, ""}.objects(t), definitions.Store())

			ns.patch(t, "widget-001", `{"spec":{"nodeName":"node-9","parts":[{"name":"display","image":"image:9"}]},"metadata":{"annotations":{"note":"ü \" \\ \n"}}}`)
			ns.delete(t, "widget-003")
			ns.create(t, widget(20))
			agree(t, ns.state(t), h, i.Store())
			sameObjects(t, ns.objects(t), i.Store())
			if callbacks := h.callbacks()[12:]; !slices.Equal(callbacks, []string{"update widget-001", "delete widget-003", "add widget-020"}) {
				t.Errorf("callbacks after the sync: %q", callbacks)
			}
		})
	}
}
