// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/test/internal/caches"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// side is a server for kubectl.
type side struct{ url, home string }

// world is an API server, and a handler with caches of it.
type world struct {
	server, handler *side
	client          dynamic.Interface // of the API server
	caches          []*watchcache.Cache
}

var (
	widgets = schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"}
	gizmos  = schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "gizmos"}
)

// newWorld starts the servers and creates objects.
func newWorld(t *testing.T) *world {
	t.Helper()
	crds, err := devserver.ReadCRDs(os.DirFS("testdata"), "crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	api := devservertest.Start(t, devserver.Options{CRDs: crds})
	w := &world{server: &side{api.URL(), t.TempDir()}}
	if w.client, err = dynamic.NewForConfig(api.Config()); err != nil {
		t.Fatal(err)
	}
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{
		{
			GroupVersionResource: widgets, Kind: "Widget", ShortNames: []string{"wd"}, Namespaced: true,
			Fields: []string{"spec.node", "spec.color"}, Cache: w.newCache(t, api.Config(), widgets, "Widget", "spec.node", "spec.color"),
		},
		{GroupVersionResource: gizmos, Kind: "Gizmo", Cache: w.newCache(t, api.Config(), gizmos, "Gizmo")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.handler = &side{server.URL, t.TempDir()}

	for _, o := range []struct{ key, labels, spec string }{
		{"a/one", "app=x,tier=front", "node=n1,color=green"},
		{"a/two", "app=x,tier=back", "node=n1,color=blue"},
		{"a/three", "app=y", "node=n2,color=red"},
		{"b/one", "app=x", "node=n2,color=blue"},
		{"b/two", "", "node=n3,color=red"},
		{"a-b/five", "app=x", "node=n5,color=red"},
		{"gizmo", "app=x", ""},
		{"gadget", "", ""},
	} {
		w.create(t, o.key, o.labels, o.spec)
	}
	return w
}

// newCache runs a cache of a resource until the test ends.
func (w *world) newCache(t *testing.T, config *rest.Config, resource schema.GroupVersionResource, kind string, fields ...string) *watchcache.Cache {
	t.Helper()
	storage := caches.Upstream(t, config, resource, upstream.Options{Kind: kind, Fields: fields})
	cache := caches.Run(t, watchcache.Config{Storage: storage, Wait: poll.Patience})
	w.caches = append(w.caches, cache)
	return cache
}

// objects returns the client and the name for a key. Widgets have a namespace in their key, gizmos
// have none.
func (w *world) objects(key string) (dynamic.ResourceInterface, string) {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		return w.client.Resource(gizmos), key
	}
	return w.client.Resource(widgets).Namespace(namespace), name
}

// create creates an object in the API server. Labels and spec are NAME=VALUE, joined by commas.
func (w *world) create(t *testing.T, key, labels, spec string) {
	t.Helper()
	objects, name := w.objects(key)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "samples.dev/v1", "kind": "Widget", "spec": values(spec)}}
	if !strings.Contains(key, "/") {
		o.Object = map[string]any{"apiVersion": "samples.dev/v1", "kind": "Gizmo"}
	}
	o.SetName(name)
	if labels != "" {
		if err := unstructured.SetNestedMap(o.Object, values(labels), "metadata", "labels"); err != nil {
			t.Fatal(err)
		}
	}
	made, err := objects.Create(t.Context(), o, metav1.CreateOptions{})
	w.awaitWritten(t, made, err)
}

// patch applies a merge patch to an object of the API server.
func (w *world) patch(t *testing.T, key, patch string) {
	t.Helper()
	objects, name := w.objects(key)
	changed, err := objects.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	w.awaitWritten(t, changed, err)
}

// remove deletes an object of the API server.
func (w *world) remove(t *testing.T, key string) {
	t.Helper()
	objects, name := w.objects(key)
	if err := objects.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitWritten waits until the handler's cache has a written object.
func (w *world) awaitWritten(t *testing.T, o *unstructured.Unstructured, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var version uint64
	if _, err := fmt.Sscan(o.GetResourceVersion(), &version); err != nil {
		t.Fatal(err)
	}
	cache := w.caches[0]
	if o.GetKind() == "Gizmo" {
		cache = w.caches[1]
	}
	if err := cache.WaitUntilFresh(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

func values(text string) map[string]any {
	m := map[string]any{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		m[name] = value
	}
	return m
}
