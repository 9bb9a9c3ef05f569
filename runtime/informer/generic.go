// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// GenericInformer is a view of a typed informer without its type: it has the same store and the
// same goroutines. The ForResource methods of generated factories return it. Its methods may be
// called by any goroutine at any time.
type GenericInformer interface {
	// Informer returns the informer with objects as object.Object, whose dynamic type is the type
	// parameter of the typed informer.
	Informer() *SharedIndexInformer[object.Object]
	// Lister returns a lister that reads the informer's store.
	Lister() *lister.Resource[object.Object]
}

// Generic returns i without its type. resource appears in the errors of the lister.
//
//go:noinline
func Generic[T object.Object](i *SharedIndexInformer[T], resource schema.GroupResource) GenericInformer {
	return generic{&SharedIndexInformer[object.Object]{i.engine}, resource}
}

// --- private from here ---

type generic struct {
	informer *SharedIndexInformer[object.Object]
	resource schema.GroupResource
}

func (g generic) Informer() *SharedIndexInformer[object.Object] { return g.informer }

func (g generic) Lister() *lister.Resource[object.Object] {
	return lister.New(g.informer.Store(), g.resource)
}
