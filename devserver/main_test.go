// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// TestMain asserts the promise of Stop for all tests at once: no goroutine is left, once the
// sleepers that the package documentation names have had their time.
func TestMain(m *testing.M) { devservertest.VerifyTestMain(m) }

var boats = schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1", Resource: "boats"}

// boatCRD returns a namespaced kind with a selectable field, a status and an optional further spec
// field.
func boatCRD(moreFields ...string) *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"berth": text}}
	for _, f := range moreFields {
		spec.Properties[f] = text
	}
	status := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"phase": text}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "boats.harbour.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: boats.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "boats", Singular: "boat", Kind: "Boat", ListKind: "BoatList", ShortNames: []string{"bo"},
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: boats.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:        "object",
					Description: "Boat is something that has a berth.",
					Properties:  map[string]apiextensionsv1.JSONSchemaProps{"spec": spec, "status": status},
				}},
				Subresources:     &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.berth"}},
			}},
		},
	}
}

func boat(name, berth string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": boats.GroupVersion().String(),
		"kind":       "Boat",
		"metadata":   map[string]any{"name": name, "namespace": "default", "labels": map[string]any{"berth": berth}},
		"spec":       map[string]any{"berth": berth},
	}}
}

// start runs a server until the end of the test.
func start(t testing.TB, opts devserver.Options) *devserver.Server {
	t.Helper()
	s, err := devserver.Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func client(t testing.TB, s *devserver.Server) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func create(t testing.TB, s *devserver.Server, name, berth string) *unstructured.Unstructured {
	t.Helper()
	b, err := client(t, s).Resource(boats).Namespace("default").Create(t.Context(), boat(name, berth), metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	return b
}

func openWatch(t testing.TB, s *devserver.Server, opts metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := client(t, s).Resource(boats).Namespace("default").Watch(t.Context(), opts)
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	t.Cleanup(w.Stop)
	return w
}

// patience bounds the wait for an event that comes soon, on a busy machine too.
const patience = 3 * time.Minute

// next returns the next event; ok is false at the end of the watch.
func next(t testing.TB, w watch.Interface) (e watch.Event, ok bool) {
	t.Helper()
	select {
	case e, ok = <-w.ResultChan():
		return e, ok
	case <-time.After(patience):
		t.Fatal("no event")
		return e, false
	}
}

// wantEvent asserts type and name of the next event.
func wantEvent(t testing.TB, w watch.Interface, typ watch.EventType, name string) {
	t.Helper()
	e, ok := next(t, w)
	if !ok {
		t.Fatalf("the watch has ended, want %s %s", typ, name)
	}
	got, isObject := e.Object.(*unstructured.Unstructured)
	if !isObject || e.Type != typ || got.GetName() != name {
		t.Fatalf("got event %s %v, want %s %s", e.Type, e.Object, typ, name)
	}
}

// wantExpired asserts that the next event is the error 410.
func wantExpired(t testing.TB, w watch.Interface) {
	t.Helper()
	e, ok := next(t, w)
	if !ok {
		t.Fatal("the watch has ended without an error event")
	}
	if err := apierrors.FromObject(e.Object); e.Type != watch.Error || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Fatalf("got event %s %v, want the error 410", e.Type, e.Object)
	}
}

var errNotYet = errors.New("not yet")

// eventually calls f until it returns nil. It sleeps in between, because the server, which f asks,
// sends no signal.
func eventually(t testing.TB, f func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func get(t testing.TB, url, accept string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v: %s", url, resp.Status, err, body)
	}
	return body
}
