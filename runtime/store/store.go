// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Store is a store for direct use: in tests, and in programs that fill it without an informer. It
// is a [Reader]. Its methods may be called by any goroutine at any time.
type Store[T object.Object] struct{ untypedStore }

// untypedStore is a Store without its type parameter, compiled once.
type untypedStore struct {
	table *table.Table
	mu    *sync.Mutex // orders the writers of table
}

// New returns an empty store with these indexes. It fails if an index is nil, or if two different
// ones have the same name.
func New[T object.Object](indexes ...AnyIndex[T]) (*Store[T], error) {
	s, err := newUntypedStore(bind(indexes))
	if err != nil {
		return nil, err
	}
	return &Store[T]{s}, nil
}

// Snapshot returns the newest published state. It never waits.
func (s *Store[T]) Snapshot() *Snapshot[T] { return (*Snapshot[T])(s.table.Version()) }

// Update calls change with a Txn and publishes its writes in one step: readers see all of them or
// none. It waits for other Updates to end, so change must not call Update or AddIndexers. If change
// returns an error, Update returns it unchanged and writes nothing. If change or an index function
// panics, nothing is written either, and the panic is passed on.
func (s *Store[T]) Update(change func(*Txn[T]) error) error {
	return s.update(func(x table.Txn) error { return change(&Txn[T]{x}) })
}

// AddIndexers adds indexes and fills them from the content. It waits for other Updates to end. It
// fails like New, and then adds none of them.
func (s *Store[T]) AddIndexers(indexes ...AnyIndex[T]) error { return s.addIndexes(bind(indexes)) }

// Txn is an unpublished change of a [Store]. Its reads see its own writes. It is valid until the
// function passed to [Store.Update] returns; after that it reads and changes nothing, and Set
// fails. It must be used by one goroutine at a time.
type Txn[T object.Object] struct{ txn table.Txn }

// Get returns the object under key, and whether there is one.
func (x *Txn[T]) Get(key object.Key) (T, bool) {
	obj, ok := x.txn.Get(key)
	t, _ := obj.(T)
	return t, ok
}

// Set puts obj under its namespace and name. It fails, and changes nothing, if obj is nil or has no
// name.
func (x *Txn[T]) Set(obj T) error { return set(x.txn, obj) }

// Delete removes the object under key. It returns the object, and whether there was one.
func (x *Txn[T]) Delete(key object.Key) (T, bool) {
	old, ok := x.txn.Delete(key)
	t, _ := old.(T)
	return t, ok
}

// SetResourceVersion sets the resourceVersion of the content.
func (x *Txn[T]) SetResourceVersion(rv string) { x.txn.SetResourceVersion(rv) }

// bind returns the table.Index of each index, nil for a nil index, which the table refuses.
func bind[T object.Object](indexes []AnyIndex[T]) []table.Index {
	bound := make([]table.Index, len(indexes))
	for i, ix := range indexes {
		if ix != nil {
			bound[i] = ix.Bind()
		}
	}
	return bound
}

func newUntypedStore(indexes []table.Index) (untypedStore, error) {
	t, err := table.New(indexes...)
	if err != nil {
		return untypedStore{}, fmt.Errorf("new store: %w", err)
	}
	return untypedStore{mu: new(sync.Mutex), table: t}, nil
}

func (s *untypedStore) update(change func(table.Txn) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.table.Begin()
	defer x.Discard()
	if err := change(x); err != nil {
		return err
	}
	x.Publish()
	return nil
}

func (s *untypedStore) addIndexes(indexes []table.Index) error {
	return s.update(func(x table.Txn) error {
		for _, ix := range indexes {
			if err := x.AddIndex(ix); err != nil {
				return fmt.Errorf("add indexes to store: %w", err)
			}
		}
		return nil
	})
}

func set(x table.Txn, obj object.Object) error {
	switch {
	case !x.Open():
		return fmt.Errorf("set %T in store: the Txn has ended; use it only inside the function that Update calls", obj)
	case isNil(obj):
		return fmt.Errorf("set %T in store: the object is nil", obj)
	case obj.GetName() == "":
		return fmt.Errorf("set %T in store: the object has no name; set metadata.name", obj)
	}
	x.Set(obj)
	return nil
}

func isNil(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
