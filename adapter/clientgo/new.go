// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// NewInformer is cache.NewSharedIndexInformer on the engine of package informer. It reads lw by
// NewSource. As in client-go, a watch event with an object of another type than example, or of
// another kind if example is unstructured and has one, is reported to utilruntime.HandleError and
// dropped; example may be nil. A handler's panic goes to utilruntime.PanicHandlers, and ends the
// process, unless utilruntime.ReallyCrash is false; the handler then pauses for a second.
// NewInformer panics if a function of indexers is nil.
func NewInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return newInformer(newSource(lw, example), example, resync, indexers)
}

func newInformer(src source.Source[object.Object], example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	description := describe(example)
	i, err := informer.New(src,
		informer.WithName(description),
		informer.WithEmptyBeforeSync(true),
		informer.WithResyncPeriod(max(resync, 0)),
		informer.WithPanicOnHandlerCrash(true)) // HandleCrash decides before
	if err != nil {
		panic(err) // no option can be wrong
	}
	s := wrap(i, description)
	s.handleCrashes = true
	if err := s.AddIndexers(indexers); err != nil {
		panic(err)
	}
	return s
}

func describe(example runtime.Object) string {
	if example == nil {
		return "<unspecified>"
	}
	if gvk := example.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return fmt.Sprintf("%T %s", example, gvk)
	}
	return fmt.Sprintf("%T", example)
}
