// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// view is how a program looks at the objects of a kind. Each view has informers of its own.
type view uint8

const (
	typed view = iota
	untyped
	metadataOnly
)

// String returns what the objects of the view hold.
func (v view) String() string { return [...]string{"typed", "unstructured", "metadata"}[v] }

// viewOf returns the view of an object or a list.
func viewOf(obj runtime.Object) view {
	switch obj.(type) {
	case runtime.Unstructured:
		return untyped
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return metadataOnly
	}
	return typed
}

type kindKey struct {
	gvk  schema.GroupVersionKind
	view view
}

// kinds is a set of kinds. It is never changed.
type kinds struct {
	byKey  map[kindKey]*kind
	byType map[reflect.Type]*kind // the typed ones, by the type of their objects
}

// with returns the set with k.
func (s *kinds) with(k *kind) *kinds {
	byKey := maps.Clone(s.byKey)
	if byKey == nil {
		byKey = map[kindKey]*kind{}
	}
	byKey[k.kindKey] = k
	return newKinds(byKey)
}

// without returns the set without k.
func (s *kinds) without(k *kind) *kinds {
	byKey := maps.Clone(s.byKey)
	delete(byKey, k.kindKey)
	return newKinds(byKey)
}

func newKinds(byKey map[kindKey]*kind) *kinds {
	s := &kinds{byKey, map[reflect.Type]*kind{}}
	for key, k := range byKey {
		if key.view == typed {
			s.byType[k.objects] = k
		}
	}
	return s
}

// kind is one view of one kind: its informers, and how they are read.
type kind struct {
	// set once at construction
	kindKey
	objects    reflect.Type // the type of its objects
	namespaced bool
	follows    bool // it has the namespaces that AddNamespace and RemoveNamespace change
	parts      *parts
	informer   cache.Informer     // as it is handed out
	ctx        context.Context    // done when the kind is removed, or the cache has ended
	stop       context.CancelFunc // of ctx

	// indexes has the field indexes by field. Readers load it; writers hold mu, and replace it.
	indexes atomic.Pointer[map[string]fieldIndex]
	mu      sync.Mutex
}

// kindFor returns the kind for key, which it makes if there is none.
func (c *Cache) kindFor(key kindKey) (*kind, error) {
	if k := c.kinds.Load().byKey[key]; k != nil {
		return k, nil
	}
	newObject, err := c.newObject(key)
	if err != nil {
		return nil, err
	}
	mapping, err := c.mapper.RESTMapping(key.gvk.GroupKind(), key.gvk.Version)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kinds.Load().byKey[key]; k != nil {
		return k, nil
	}
	k, err := c.newKindLocked(key, mapping, newObject)
	if err != nil {
		return nil, err
	}
	c.kinds.Store(c.kinds.Load().with(k))
	if c.ctx != nil {
		c.runLocked(k)
	}
	return k, nil
}

func (c *Cache) remove(key kindKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kinds.Load().byKey[key]
	if k == nil {
		return
	}
	c.kinds.Store(c.kinds.Load().without(k))
	k.stop()
}

// newKindLocked makes a kind that does not run yet.
func (c *Cache) newKindLocked(key kindKey, mapping *meta.RESTMapping, newObject func() object.Object) (_ *kind, err error) {
	settings := c.settings.of(key.gvk)
	k := &kind{kindKey: key, objects: reflect.TypeOf(newObject()), namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	k.follows = k.namespaced && settings.follows
	k.indexes.Store(&map[string]fieldIndex{})
	r := reading{
		kindKey:   key,
		client:    c.client,
		resource:  mapping.Resource,
		newObject: newObject,
		formats:   c.settings.formats,
		onError:   c.settings.onError,
	}
	switch {
	case !k.namespaced:
		k.parts, err = r.whole("", settings.config)
	case k.follows:
		k.parts, err = r.divided(c.namespaces, settings)
	case len(settings.namespaces) > 0:
		k.parts, err = r.divided(slices.Sorted(maps.Keys(settings.namespaces)), settings)
	default:
		k.parts, err = r.whole(namespaceOf(settings.config), settings.config)
	}
	if err != nil {
		return nil, err
	}
	k.ctx, k.stop = context.WithCancel(context.Background())
	k.informer = k.parts.informer(goroutines{run: c.spawn, stop: k.ctx.Done()})
	return k, nil
}

// newObject returns a function that makes the objects of a view of a kind.
func (c *Cache) newObject(key kindKey) (func() object.Object, error) {
	switch key.view {
	case untyped:
		return func() object.Object { return &unstructured.Unstructured{} }, nil
	case metadataOnly:
		return func() object.Object { return &metav1.PartialObjectMetadata{} }, nil
	}
	example, err := c.scheme.New(key.gvk)
	if err != nil {
		return nil, err
	}
	if _, ok := example.(object.Object); !ok {
		return nil, fmt.Errorf("%T can't be cached: it has no metadata", example)
	}
	structure := reflect.TypeOf(example).Elem()
	return func() object.Object { return reflect.New(structure).Interface().(object.Object) }, nil
}
