// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"fmt"
	"reflect"
	"runtime"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// registration implements cache.ResourceEventHandlerRegistration. It has HasSyncedChecker from its
// checker.
type registration struct {
	// set once at construction
	checker
	informer *sharedInformer
	handler  *informer.Registration
	over     chan struct{} // closed when the handler is called no more
}

// HasSynced reports whether the handler has got the initial objects. The checker follows a moment
// later.
func (r *registration) HasSynced() bool { return r.handler.HasSynced() }

// ShutdownChan returns a channel that is closed after the last callback of the handler has
// returned: when it was removed, or when the informer has ended. cache.ShutDownEventHandler waits
// for it.
func (r *registration) ShutdownChan() <-chan struct{} { return r.over }

func (r *registration) end() { close(r.over) }

// checker has HasSynced, and from client-go v0.36 on HasSyncedChecker, whose result is of a type
// that older versions lack. A queue has both, in each version, and has synced once it was given an
// empty list. Nothing else is ever put into it.
type checker struct {
	cache.ResourceEventHandlerRegistration // the queue, of whose methods only these are wanted
}

// newChecker returns a checker that has not synced. From v0.36 on its HasSyncedChecker has the
// name.
func newChecker(name string) checker {
	var options cache.DeltaFIFOOptions
	if field := reflect.ValueOf(&options).Elem().FieldByName("Name"); field.IsValid() {
		field.SetString(name)
	}
	return checker{cache.NewDeltaFIFOWithOptions(options)}
}

// done makes the checker report that it has synced.
func (c checker) done() {
	_ = c.ResourceEventHandlerRegistration.(cache.Queue).Replace(nil, "") // fails for no empty list
}

// handler is a client-go handler as one of the runtime's.
type handler struct{ to cache.ResourceEventHandler }

func (h handler) OnAdd(obj object.Object, isInInitialList bool) { h.to.OnAdd(obj, isInInitialList) }

func (h handler) OnUpdate(old, obj object.Object) { h.to.OnUpdate(old, obj) }

func (h handler) OnDelete(deleted informer.Deleted[object.Object]) {
	if deleted.FinalStateUnknown {
		h.to.OnDelete(cache.DeletedFinalStateUnknown{Key: deleted.Key.String(), Obj: deleted.Object})
		return
	}
	h.to.OnDelete(deleted.Object)
}

// crashing is a handler whose panics are handled as client-go does it, by utilruntime.HandleCrash.
type crashing struct{ to handler }

func (h crashing) OnAdd(obj object.Object, isInInitialList bool) {
	defer utilruntime.HandleCrash()
	h.to.OnAdd(obj, isInInitialList)
}

func (h crashing) OnUpdate(old, obj object.Object) {
	defer utilruntime.HandleCrash()
	h.to.OnUpdate(old, obj)
}

func (h crashing) OnDelete(deleted informer.Deleted[object.Object]) {
	defer utilruntime.HandleCrash()
	h.to.OnDelete(deleted)
}

// nameOf returns the name of a handler for logs: that of its first function, or its type.
func nameOf(h cache.ResourceEventHandler) string {
	var funcs []any
	switch h := h.(type) {
	case cache.ResourceEventHandlerFuncs:
		funcs = []any{h.AddFunc, h.UpdateFunc, h.DeleteFunc}
	case cache.ResourceEventHandlerDetailedFuncs:
		funcs = []any{h.AddFunc, h.UpdateFunc, h.DeleteFunc}
	case cache.FilteringResourceEventHandler:
		if h.Handler != nil {
			return nameOf(h.Handler)
		}
	}
	for _, fn := range funcs {
		if v := reflect.ValueOf(fn); !v.IsNil() {
			return runtime.FuncForPC(v.Pointer()).Name()
		}
	}
	return fmt.Sprintf("%T", h)
}
