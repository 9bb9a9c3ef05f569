// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// This file has the writes of an indexer. Written objects are there until the informer has synced.

var errRunning = errors.New("the informer runs, or has run, and its store mirrors the API server; write to the server, or in a test to the fake clientset")

func (x *indexer) Add(obj any) error { return x.set("Add", obj) }

// Update returns an error if obj has no name, or is no API object: a cache.KeyError then.
func (x *indexer) Update(obj any) error { return x.set("Update", obj) }

func (x *indexer) set(verb string, obj any) error {
	return x.write(verb, func(txn *store.Txn[object.Object]) error { return put(txn, obj) })
}

// Delete accepts a cache.DeletedFinalStateUnknown, too.
func (x *indexer) Delete(obj any) error {
	return x.write("Delete", func(txn *store.Txn[object.Object]) error {
		text, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		if key, err := object.ParseKey(text); err == nil { // else no object has it
			txn.Delete(key)
		}
		if o, ok := obj.(object.Object); ok {
			txn.SetResourceVersion(o.GetResourceVersion())
		}
		return nil
	})
}

// Replace changes nothing and returns an error if an object is no API object with a name.
func (x *indexer) Replace(objects []any, resourceVersion string) error {
	return x.write("Replace", func(txn *store.Txn[object.Object]) error {
		for obj := range x.contents().All() {
			txn.Delete(object.KeyOf(obj))
		}
		for _, obj := range objects {
			if err := put(txn, obj); err != nil {
				return err
			}
		}
		txn.SetResourceVersion(resourceVersion)
		return nil
	})
}

// Bookmark sets the result of LastStoreSyncResourceVersion. Once the informer runs it does nothing:
// the server's bookmarks do that.
func (x *indexer) Bookmark(resourceVersion string) {
	_ = x.write("Bookmark", func(txn *store.Txn[object.Object]) error {
		txn.SetResourceVersion(resourceVersion)
		return nil
	})
}

func put(txn *store.Txn[object.Object], obj any) error {
	o, ok := obj.(object.Object)
	if !ok {
		return cache.KeyError{Obj: obj, Err: fmt.Errorf("a %T is no API object", obj)}
	}
	if err := txn.Set(o); err != nil {
		return err
	}
	txn.SetResourceVersion(o.GetResourceVersion())
	return nil
}

func (x *indexer) write(verb string, change func(*store.Txn[object.Object]) error) (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %s: %w", x.name, verb, err)
		}
	}()
	defer catch(&err)
	if x.informer.HasSynced() || x.informer.Status().Running {
		return errRunning
	}
	draft := x.draft.Load()
	if draft == nil {
		if draft, err = store.New(x.indexes.Load().stored()...); err != nil {
			return err
		}
		x.draft.Store(draft)
	}
	return draft.Update(change)
}

func (x *indexes) stored() (all []store.AnyIndex[object.Object]) {
	for _, ix := range x.byName {
		if ix.of != nil {
			all = append(all, ix.of)
		}
	}
	return all
}
