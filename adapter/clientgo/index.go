// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"fmt"
	"iter"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type index struct {
	values cache.IndexFunc
	// of is the store's index of the same values; nil stands for the index by namespace, which
	// every store has.
	of *anyIndex
}

var byNamespace = index{values: cache.MetaNamespaceIndexFunc}

// newIndex returns the index of an IndexFunc. An error of the function becomes a panic, which the
// informer reports; then it keeps the object without values in this index.
func newIndex(name string, values cache.IndexFunc) index {
	return index{values, store.NewIndex(name, func(obj object.Object, dst []string) []string {
		of, err := values(obj)
		if err != nil {
			panic(indexError{fmt.Errorf("index %q of %s: %w", name, object.KeyOf(obj), err)})
		}
		return append(dst, of...)
	})}
}

type indexError struct{ error }

func (e indexError) Unwrap() error { return e.error }

// catch, when deferred, recovers an indexError and sets err to it.
func catch(err *error) {
	switch recovered := recover().(type) {
	case nil:
	case indexError:
		*err = recovered.error
	default:
		panic(recovered)
	}
}

func (x index) lookup(s *contents, value string) iter.Seq[object.Object] {
	switch {
	case x.of != nil:
		return x.of.Lookup(s, value)
	case value != "":
		return s.Namespace(value)
	}
	return func(yield func(object.Object) bool) { // the cluster-scoped objects
		for obj := range s.All() {
			if obj.GetNamespace() == "" && !yield(obj) {
				return
			}
		}
	}
}

// len returns at least the number of objects that have value.
func (x index) len(s *contents, value string) int {
	if x.of == nil {
		return s.NamespaceLen(value)
	}
	return x.of.Len(s, value)
}

func (x index) all(s *contents) iter.Seq[string] {
	if x.of != nil {
		return x.of.Keys(s)
	}
	return func(yield func(string) bool) {
		for range x.lookup(s, "") {
			if !yield("") {
				return
			}
			break
		}
		for namespace := range s.Namespaces() {
			if !yield(namespace) {
				return
			}
		}
	}
}
