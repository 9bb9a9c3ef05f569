// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// New returns a Store with objs, for unit tests of code that reads listers or indexes. A generated
// lister accepts it as an informer's store: NewWidgetLister(storetest.New(t, widget)). It has no
// indexes, but look-ups by any index work. The objects are not copied. Nil or nameless objects end
// the test.
func New[T object.Object](t testing.TB, objs ...T) *store.Store[T] {
	t.Helper()
	s, err := store.New[T]()
	if err != nil {
		t.Fatalf("make a store for the test: %v", err)
	}
	Set(t, s, objs...)
	return s
}

// Set puts objs into s, each under its namespace and name, in one step. Nil or nameless objects end
// the test without a change.
func Set[T object.Object](t testing.TB, s *store.Store[T], objs ...T) {
	t.Helper()
	if err := s.Update(func(x *store.Txn[T]) error {
		for _, obj := range objs {
			if err := x.Set(obj); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatalf("put objects into the test's store: %v", err)
	}
}
