// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcache "k8s.io/client-go/tools/cache"
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

// kind is one view of one kind: its informers, and how they are read.
type kind struct {
	// set once at construction
	kindKey
	namespaced bool
	parts      parts
	informer   cache.Informer     // as it is handed out
	ctx        context.Context    // done when the kind is removed, or the cache has ended
	stop       context.CancelFunc // of ctx

	// indexes has the field indexes by field. Readers load it; writers hold mu, and replace it.
	indexes atomic.Pointer[map[string]fieldIndex]
	mu      sync.Mutex
}

// parts are the informers of a kind: one for each namespace, or one in all.
type parts struct {
	all  []*part
	of   map[string]*part // by namespace; nil if one reads them all
	rest *part            // reads the namespaces that are not in of; nil if nothing does
}

// in returns the part that reads a namespace, or nil.
func (p *parts) in(namespace string) *part {
	if one := p.of[namespace]; one != nil {
		return one
	}
	return p.rest
}

// informer returns all parts as one informer.
func (p *parts) informer(owner goroutines) cache.Informer {
	if len(p.all) == 1 {
		return p.all[0].shared
	}
	var members []clientcache.SharedIndexInformer
	for _, one := range p.all {
		members = append(members, one.shared)
	}
	return newGroup(members, owner)
}

// kindFor returns the kind for key, which it makes if there is none.
func (c *Cache) kindFor(key kindKey) (*kind, error) {
	if k := (*c.kinds.Load())[key]; k != nil {
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
	if k := (*c.kinds.Load())[key]; k != nil {
		return k, nil
	}
	k, err := c.newKind(key, mapping, newObject)
	if err != nil {
		return nil, err
	}
	kinds := maps.Clone(*c.kinds.Load())
	kinds[key] = k
	c.kinds.Store(&kinds)
	if c.ctx != nil {
		c.runLocked(k)
	}
	return k, nil
}

func (c *Cache) remove(key kindKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := maps.Clone(*c.kinds.Load())
	k := kinds[key]
	if k == nil {
		return
	}
	delete(kinds, key)
	c.kinds.Store(&kinds)
	k.stop()
}

func (c *Cache) newKind(key kindKey, mapping *meta.RESTMapping, newObject func() object.Object) (_ *kind, err error) {
	k := &kind{kindKey: key, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	k.indexes.Store(&map[string]fieldIndex{})
	r := reading{
		client:    c.client,
		resource:  mapping.Resource,
		kind:      key.gvk.Kind,
		newObject: newObject,
		onError:   c.settings.onError,
	}
	if k.parts, err = r.parts(c.settings.of(key.gvk), k.namespaced); err != nil {
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
