// SPDX-License-Identifier: Apache-2.0

package server

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// noWatchList is a client that makes client-go's reflector list.
type noWatchList struct{}

// IsWatchListSemanticsUnSupported is called by the reflector.
func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

// Object is an object that both sides can hold.
type Object interface {
	object.Object
	runtime.Object
}

// Collection is a collection in each side's form.
type Collection[T Object] interface {
	Source() (source.Source[T], error)
	ListerWatcher() (cache.ListerWatcher, error)
	Example() T // an empty object, which client-go requires
}
