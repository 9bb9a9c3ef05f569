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

	"github.com/informer-gen/informer-gen/adapter/internal/checker"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type view uint8

const (
	typed view = iota
	untyped
	metadataOnly
)

func (v view) String() string { return [...]string{"typed", "unstructured", "metadata"}[v] }

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

// kinds is an immutable set of kinds.
type kinds struct {
	byKey map[kindKey]*kind
	// byType has the typed kinds whose Go type belongs to no other kind, by the address of the
	// type, which is found without hashing an interface value. It is empty until the cache has
	// started, so a read that finds its kind here needs no other check.
	byType map[uintptr]*kind
}

func addressOf(obj any) uintptr { return reflect.ValueOf(reflect.TypeOf(obj)).Pointer() }

// setKindsLocked replaces the kinds by byKey, which must not be changed afterwards.
func (c *Cache) setKindsLocked(byKey map[kindKey]*kind) {
	s := &kinds{byKey, map[uintptr]*kind{}}
	for _, k := range byKey {
		if c.ctx != nil && k.ownsType {
			s.byType[addressOf(k.example)] = k
		}
	}
	c.kinds.Store(s)
}

// kind is one view of one kind: its informers, and how they are read.
type kind struct {
	// set once at construction
	kindKey
	example     object.Object // an empty object
	ownsType    bool          // the view is typed, and the scheme has the type for no other kind
	namespaced  bool
	follows     bool // it has the namespaces changed by AddNamespace and RemoveNamespace
	informerSet *informerSet
	informer    cache.Informer     // as handed out
	ctx         context.Context    // done when the kind is removed, or the cache has ended
	stop        context.CancelFunc // of ctx

	// indexes has the field indexes by field. Readers load it; writers hold mu, and replace it.
	indexes atomic.Pointer[map[string]fieldIndex]
	mu      sync.Mutex
}

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
	byKey := maps.Clone(c.kinds.Load().byKey)
	byKey[key] = k
	c.setKindsLocked(byKey)
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
	byKey := maps.Clone(c.kinds.Load().byKey)
	delete(byKey, key)
	c.setKindsLocked(byKey)
	k.stop()
}

func (c *Cache) newKindLocked(key kindKey, mapping *meta.RESTMapping, newObject func() object.Object) (_ *kind, err error) {
	settings := c.settings.of(key.gvk)
	k := &kind{kindKey: key, example: newObject(), namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	k.follows = k.namespaced && settings.follows
	if key.view == typed {
		gvks, unversioned, err := c.scheme.ObjectKinds(k.example)
		if err != nil {
			return nil, err
		}
		k.ownsType = len(gvks) == 1 && !unversioned
	}
	k.indexes.Store(&map[string]fieldIndex{})
	r := kindReader{
		kindKey:   key,
		client:    c.client,
		resource:  mapping.Resource,
		newObject: newObject,
		formats:   c.settings.formats,
		onError:   c.settings.onError,
		ring:      c.settings.ringOf(key.gvk),
	}
	switch {
	case !k.namespaced:
		k.informerSet, err = r.newSingle("", settings.config)
	case k.follows:
		k.informerSet, err = r.newByNamespace(c.namespaces, settings)
	case len(settings.namespaces) > 0:
		k.informerSet, err = r.newByNamespace(slices.Sorted(maps.Keys(settings.namespaces)), settings)
	default:
		k.informerSet, err = r.newSingle(namespaceOf(settings.config), settings.config)
	}
	if err != nil {
		return nil, err
	}
	k.ctx, k.stop = context.WithCancel(context.Background())
	if len(k.informerSet.all) == 1 {
		k.informer = k.informerSet.all[0].shared
	} else {
		name := key.gvk.String()
		k.informer = &group{Checker: checker.New(name), name: name, members: k.informerSet.all, spawn: c.spawn, stop: k.ctx.Done()}
	}
	return k, nil
}

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
