// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type (
	anyInformer = informer.SharedIndexInformer[object.Object]
	contents    = store.Snapshot[object.Object]
	anyIndex    = store.Index[object.Object, string]
	anyStore    = store.Store[object.Object]
)

// indexer implements cache.Indexer over the store of an informer. Each read uses one snapshot, and
// waits for nothing.
type indexer struct {
	// set once at construction
	name     string // of the informer
	informer *anyInformer
	objects  store.Reader[object.Object]

	// indexes is never nil, and its target never changes. mu guards writes.
	indexes atomic.Pointer[indexes]
	// draft has the objects written before the informer has synced; nil if there are none. mu
	// guards writes.
	draft atomic.Pointer[anyStore]

	mu sync.Mutex
}

type indexes struct {
	funcs  cache.Indexers
	byName map[string]index
}

func newIndexer(name string, i *anyInformer) *indexer {
	x := &indexer{name: name, informer: i, objects: i.Store()}
	x.indexes.Store(&indexes{
		cache.Indexers{cache.NamespaceIndex: byNamespace.values},
		map[string]index{cache.NamespaceIndex: byNamespace},
	})
	return x
}

func (x *indexer) contents() *contents {
	if draft := x.draft.Load(); draft != nil && !x.informer.HasSynced() {
		return draft.Snapshot()
	}
	return x.objects.Snapshot()
}

func (x *indexer) List() []any {
	s := x.contents()
	return list(s.All(), s.Len())
}

func (x *indexer) ListKeys() []string {
	s := x.contents()
	return keys(s.All(), s.Len())
}

// Get accepts a cache.DeletedFinalStateUnknown and a cache.ExplicitKey, too. It returns an error if
// obj has no key.
func (x *indexer) Get(obj any) (item any, exists bool, err error) {
	if o, ok := obj.(object.Object); ok {
		return x.get(object.KeyOf(o))
	}
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey finds "namespace/name", or "name" for a cluster-scoped object. The error is always nil.
func (x *indexer) GetByKey(key string) (item any, exists bool, err error) {
	switch slash := strings.IndexByte(key, '/'); {
	case slash < 0:
		return x.get(object.Key{Name: key})
	case slash > 0:
		return x.get(object.Key{Namespace: key[:slash], Name: key[slash+1:]})
	}
	return nil, false, nil // no object has such a key
}

func (x *indexer) get(key object.Key) (item any, exists bool, err error) {
	obj, ok := x.contents().Get(key)
	if !ok {
		return nil, false, nil
	}
	return obj, true, nil
}

// Index returns each object that shares a value of obj in the named index once. It returns an error
// if there is no such index, or if its function does.
func (x *indexer) Index(name string, obj any) ([]any, error) {
	ix, err := x.index(name)
	if err != nil {
		return nil, err
	}
	values, err := ix.values(obj)
	if err != nil {
		return nil, err
	}
	s := x.contents()
	if len(values) == 1 { // as for the listers of a namespace
		return list(ix.lookup(s, values[0]), ix.len(s, values[0])), nil
	}
	found, seen := []any{}, map[object.Key]bool{}
	for _, value := range values {
		for obj := range ix.lookup(s, value) {
			if key := object.KeyOf(obj); !seen[key] {
				seen[key] = true
				found = append(found, obj)
			}
		}
	}
	return found, nil
}

func (x *indexer) ByIndex(name, value string) ([]any, error) {
	ix, err := x.index(name)
	if err != nil {
		return nil, err
	}
	s := x.contents()
	return list(ix.lookup(s, value), ix.len(s, value)), nil
}

func (x *indexer) IndexKeys(name, value string) ([]string, error) {
	ix, err := x.index(name)
	if err != nil {
		return nil, err
	}
	s := x.contents()
	return keys(ix.lookup(s, value), ix.len(s, value)), nil
}

// ListIndexFuncValues returns each value in the named index once, and none if there is no such
// index.
func (x *indexer) ListIndexFuncValues(name string) []string {
	values := []string{}
	if ix, err := x.index(name); err == nil {
		for value := range ix.all(x.contents()) {
			values = append(values, value)
		}
	}
	return values
}

// GetIndexers returns a map that must not be changed.
func (x *indexer) GetIndexers() cache.Indexers { return x.indexes.Load().funcs }

// AddIndexers adds indexes, and fills them from the store; it waits for the batch being applied. It
// adds none, and returns an error, if an index has one of the names already, if a function is nil,
// or if it returns an error for an object in the store. The index cache.NamespaceIndex is there
// from the start: adding it with client-go's function does nothing, and another function replaces
// it.
func (x *indexer) AddIndexers(added cache.Indexers) (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer catch(&err)
	old := x.indexes.Load()
	next := &indexes{maps.Clone(old.funcs), maps.Clone(old.byName)}
	var wanted []store.AnyIndex[object.Object]
	for name, values := range added {
		if name == cache.NamespaceIndex && isNamespaceFunc(values) {
			continue
		}
		if ix, ok := old.byName[name]; ok && ix.of != nil {
			return fmt.Errorf("%s: indexer conflict: there is an index %q already", x.name, name)
		}
		if values == nil {
			return fmt.Errorf("%s: the function of index %q is nil", x.name, name)
		}
		ix := newIndex(name, values)
		next.funcs[name], next.byName[name] = values, ix
		wanted = append(wanted, ix.of)
	}
	// The draft comes first: while it is in use, only its objects can fail an index.
	if draft := x.draft.Load(); draft != nil && !x.informer.HasSynced() {
		if err := draft.AddIndexers(wanted...); err != nil {
			return err
		}
	}
	if err := x.informer.AddIndexers(wanted...); err != nil {
		return err
	}
	x.indexes.Store(next)
	return nil
}

func isNamespaceFunc(values cache.IndexFunc) bool {
	return reflect.ValueOf(values).Pointer() == reflect.ValueOf(byNamespace.values).Pointer()
}

func (x *indexer) LastStoreSyncResourceVersion() string { return x.contents().ResourceVersion() }

// Resync does nothing, as in client-go's stores.
func (x *indexer) Resync() error { return nil }

func (x *indexer) index(name string) (index, error) {
	ix, ok := x.indexes.Load().byName[name]
	if !ok {
		return index{}, fmt.Errorf("%s: Index with name %s does not exist", x.name, name)
	}
	return ix, nil
}

func list(objects iter.Seq[object.Object], room int) []any {
	all := make([]any, 0, room)
	for obj := range objects {
		all = append(all, obj)
	}
	return all
}

func keys(objects iter.Seq[object.Object], room int) []string {
	all := make([]string, 0, room)
	for obj := range objects {
		all = append(all, object.KeyOf(obj).String())
	}
	return all
}
