// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Get reads the object under key into obj, whose type selects the view. It makes the informer of
// the kind if there is none, and waits until it has synced.
//
// obj is a copy, unless copies are disabled for the kind or by an option of the call: see the
// package documentation.
//
// The error is NotFound if there is no such object, [cache.ErrCacheNotStarted] before the start,
// [cache.ErrResourceNotCached] with ReaderFailOnMissingInformer, and Timeout, with the reason, if
// ctx is done, or the informer is removed, before it has synced. A namespace not read by the cache
// is an error, too.
func (c *Cache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	k, err := c.readableFor(obj)
	if err != nil {
		return err
	}
	if !k.namespaced {
		key.Namespace = ""
	}
	p := k.informerSet.in(key.Namespace)
	if p == nil {
		return fmt.Errorf("unable to get: %v because of unknown namespace for the cache", key)
	}
	snapshot, err := p.snapshot(ctx, k, key.Namespace)
	if err != nil {
		return err
	}
	copied := !p.disablesCopies(key.Namespace) && !disableCopies(opts)
	found, ok := snapshot.Get(object.Key(key))
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: k.gvk.Group, Resource: k.gvk.Kind}, key.Name)
	}
	if copied {
		found = found.DeepCopyObject().(object.Object)
	}
	if reflect.TypeOf(found) != reflect.TypeOf(obj) {
		return fmt.Errorf("the cache has objects of type %T, but %T was asked for", found, obj)
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(found).Elem())
	if copied {
		obj.GetObjectKind().SetGroupVersionKind(k.gvk)
	}
	return nil
}

func disableCopies(opts []client.GetOption) (disabled bool) {
	for _, opt := range opts {
		if usual, ok := any(opt).(client.UnsafeDisableDeepCopyOption); ok { // needs no allocation
			disabled = bool(usual)
			continue
		}
		var options client.GetOptions
		opt.ApplyToGet(&options)
		disabled = ptr.Deref(fieldOrNil[bool](options, "UnsafeDisableDeepCopy"), disabled)
	}
	return disabled
}

// List reads the objects that opts select into list, whose type selects the view, in no particular
// order. A field selector needs an index of each of its fields, see [Cache.IndexField], and can
// only ask for equality. Limit cuts the list; Continue is refused. Otherwise it is like Get.
func (c *Cache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, c.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	k, err := c.readable(kindKey{gvk, viewOf(list)})
	if err != nil {
		return err
	}
	var options client.ListOptions
	options.ApplyOptions(opts)
	if options.Continue != "" {
		return errors.New("continue list option is not supported by the cache")
	}
	query, err := k.query(&options)
	if err != nil {
		return err
	}
	informers := k.informerSet.all
	if options.Namespace != "" {
		one := k.informerSet.in(options.Namespace)
		if one == nil {
			return fmt.Errorf("unable to list: %v because of unknown namespace for the cache", options.Namespace)
		}
		informers = []*kindInformer{one}
	}
	var found []object.Object
	for _, p := range informers {
		if query.full(found) {
			break
		}
		snapshot, err := p.snapshot(ctx, k, options.Namespace)
		if err != nil {
			return err
		}
		first := len(found)
		found = query.appendTo(found, snapshot)
		if ptr.Deref(options.UnsafeDisableDeepCopy, false) {
			continue
		}
		for i, obj := range found[first:] {
			if p.disablesCopies(obj.GetNamespace()) {
				continue
			}
			obj = obj.DeepCopyObject().(object.Object)
			obj.GetObjectKind().SetGroupVersionKind(gvk)
			found[first+i] = obj
		}
	}
	if err := setItems(list, found); err != nil {
		return err
	}
	list.SetContinue("continue-not-supported")
	return nil
}

func (c *Cache) readableFor(obj client.Object) (*kind, error) {
	// The scheme has an error for nil and for other types than pointers.
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && !v.IsNil() {
		if k := c.kinds.Load().byType[addressOf(obj)]; k != nil {
			return k, nil // without a search in the scheme
		}
	}
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return nil, err
	}
	return c.readable(kindKey{gvk, viewOf(obj)})
}

func (c *Cache) readable(key kindKey) (*kind, error) {
	k := c.kinds.Load().byKey[key]
	if k == nil {
		if c.settings.failOnMissing {
			return nil, &cache.ErrResourceNotCached{GVK: key.gvk}
		}
		var err error
		if k, err = c.kindFor(key); err != nil {
			return nil, err
		}
	}
	if !isClosed(c.started) {
		return nil, &cache.ErrCacheNotStarted{}
	}
	return k, nil
}
