// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// boxes is the group of Boxes, a kind without a Go type.
const boxes = "samples.example"

// sizeOfBox is the field with the size in a Box's spec, by version.
var sizeOfBox = map[string]string{"v1": "size", "v2": "volume"}

// boxCRD defines Boxes, in version v1.
func boxCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "boxes." + boxes},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:    boxes,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "boxes", Singular: "box", Kind: "Box", ListKind: "BoxList"},
			Scope:    apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{boxVersion("v1", true)},
		},
	}
}

func boxVersion(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: storage,
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)},
		},
	}
}

func newBox(version, name string, size int64) *unstructured.Unstructured {
	box := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{sizeOfBox[version]: size}}}
	box.SetGroupVersionKind(schema.GroupVersionKind{Group: boxes, Version: version, Kind: "Box"})
	box.SetNamespace("default")
	box.SetName(name)
	return box
}

// packer is a controller of the Boxes of a version. It writes the size of each Box into a field of
// the status, named after the version.
type packer struct {
	client.Client
	version string

	mu   sync.Mutex
	last map[string]observation // by name, guarded by mu
}

// observation is the Box seen by the last Reconcile, or zero for none.
type observation struct {
	uid  types.UID
	size int64
}

func (p *packer) observe(box *unstructured.Unstructured) observation {
	size, _, _ := unstructured.NestedInt64(box.Object, "spec", sizeOfBox[p.version])
	return observation{box.GetUID(), size}
}

// Reconcile implements reconcile.Reconciler.
func (p *packer) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	box := newBox(p.version, r.Name, 0)
	err := p.Get(ctx, r.NamespacedName, box)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	var seen observation
	if err == nil {
		seen = p.observe(box)
	}
	p.mu.Lock()
	p.last[r.Name] = seen
	p.mu.Unlock()
	if packed, ok, _ := unstructured.NestedInt64(box.Object, "status", p.version); err != nil || ok && packed == seen.size {
		return reconcile.Result{}, nil
	}
	if err := unstructured.SetNestedField(box.Object, seen.size, "status", p.version); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, client.IgnoreNotFound(p.Status().Update(ctx, box))
}

// behind returns an error until the last state of each Box, or its deletion, is reconciled, and
// until the manager's cache equals the server's objects.
func (p *packer) behind(ctx context.Context, server client.Reader) error {
	want, err := listBoxes(ctx, server, p.version)
	if err != nil {
		return err
	}
	cached, err := listBoxes(ctx, p, p.version)
	if err != nil {
		return err
	}
	for name, box := range want {
		if packed, ok, _ := unstructured.NestedInt64(box.Object, "status", p.version); !ok || packed != p.observe(&box).size {
			return fmt.Errorf("Box %s has the spec %v and the status %v", name, box.Object["spec"], box.Object["status"])
		}
		if !reflect.DeepEqual(cached[name], box) {
			return fmt.Errorf("the cache has the Box %v, the server %v", cached[name], box)
		}
		delete(cached, name)
	}
	if len(cached) > 0 {
		return fmt.Errorf("only the cache has the Boxes %v", cached)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, seen := range p.last {
		var now observation
		if box, ok := want[name]; ok {
			now = p.observe(&box)
		}
		if seen != now {
			return fmt.Errorf("the last Reconcile of %s saw %+v, the server has %+v", name, seen, now)
		}
	}
	return nil
}

// listBoxes returns all Boxes by their names.
func listBoxes(ctx context.Context, reader client.Reader, version string) (map[string]unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: boxes, Version: version, Kind: "BoxList"})
	if err := reader.List(ctx, &list, client.InNamespace("default")); err != nil {
		return nil, err
	}
	all := map[string]unstructured.Unstructured{}
	for _, box := range list.Items {
		all[box.GetName()] = box
	}
	return all, nil
}

// warehouse is a manager with a packer for each of some versions, on one of the caches.
type warehouse struct {
	t        *testing.T
	server   client.Client // without a cache
	packers  []*packer
	attempts int // of changes
}

func newWarehouse(t *testing.T, server *serverProcess, newCache cache.NewCacheFunc, versions ...string) *warehouse {
	t.Helper()
	w := &warehouse{t: t, server: server.client(t, client.Options{})}
	mgr := newManager(t, server.config(), newCache, func(o *ctrl.Options) { o.Client.Cache = &client.CacheOptions{Unstructured: true} })
	for _, version := range versions {
		p := &packer{Client: mgr.GetClient(), version: version, last: map[string]observation{}}
		if err := ctrl.NewControllerManagedBy(mgr).For(newBox(version, "", 0)).Complete(p); err != nil {
			t.Fatal(err)
		}
		w.packers = append(w.packers, p)
	}
	runManager(t, mgr)
	return w
}

// settled waits until all packers are idle, and the cache has the server's Boxes.
func (w *warehouse) settled(after string) {
	w.t.Helper()
	for _, p := range w.packers {
		poll.Until(w.t, func() error {
			if err := p.behind(w.t.Context(), w.server); err != nil {
				return fmt.Errorf("after %s, in version %s: %w", after, p.version, err)
			}
			return nil
		})
	}
}

// manyBoxes is the number of Boxes.
const manyBoxes = 20

// change tries the next change. Each Box is created, changed twice, deleted, created again and so
// on, in one version after the other.
func (w *warehouse) change() error {
	round, n := w.attempts/manyBoxes, w.attempts%manyBoxes
	w.attempts++
	version := w.packers[round%len(w.packers)].version
	box := newBox(version, fmt.Sprint("box-", n), int64(w.attempts))
	switch (round + n) % 4 {
	case 0:
		return w.server.Create(w.t.Context(), box)
	case 1, 2:
		patch := fmt.Appendf(nil, `{"spec":{%q:%d}}`, sizeOfBox[version], w.attempts)
		return w.server.Patch(w.t.Context(), box, client.RawPatch(types.MergePatchType, patch))
	default:
		return w.server.Delete(w.t.Context(), box)
	}
}

// during changes Boxes before, during and after a fault. Some of the changes fail.
func (w *warehouse) during(fault func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var changes sync.WaitGroup
	var succeeded atomic.Int64
	defer func() { cancel(); changes.Wait() }()
	changes.Go(func() {
		for ctx.Err() == nil {
			if w.change() == nil {
				succeeded.Add(1)
			}
			time.Sleep(time.Millisecond) // leaves the processor to the controllers
		}
	})
	more := func() {
		w.t.Helper()
		want := succeeded.Load() + manyBoxes
		poll.Until(w.t, func() error {
			if n := succeeded.Load(); n < want {
				return fmt.Errorf("%d successful changes, want %d", n, want)
			}
			return nil
		})
	}
	more()
	fault()
	more()
}
