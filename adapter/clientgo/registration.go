// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"fmt"
	"reflect"
	"runtime"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/adapter/internal/checker"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type registration struct {
	// set once at construction
	checker.Checker
	informer *sharedInformer
	handler  *informer.Registration
	ended    chan struct{} // closed after the last callback
}

// HasSynced reports whether the handler has got the initial objects. The checker follows a moment
// later.
func (r *registration) HasSynced() bool { return r.handler.HasSynced() }

// Synced returns a channel that is closed when the handler has got the initial objects. It is for
// adapter/controllerruntime, since older versions of client-go have no HasSyncedChecker.
func (r *registration) Synced() <-chan struct{} { return r.handler.Synced() }

// ShutdownChan returns a channel that is closed after the handler's last callback has returned:
// when the handler was removed, or the informer has ended. cache.ShutDownEventHandler waits for it.
func (r *registration) ShutdownChan() <-chan struct{} { return r.ended }

func (r *registration) end() { close(r.ended) }

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

// crashHandler handles the panics of a handler as client-go does: by utilruntime.HandleCrash, which
// ends the process unless utilruntime.ReallyCrash is false, and then by a pause.
type crashHandler struct {
	to       handler
	informer *sharedInformer
	logger   klog.Logger
}

func (h crashHandler) OnAdd(obj object.Object, isInInitialList bool) {
	h.guard(func() { h.to.OnAdd(obj, isInInitialList) })
}

func (h crashHandler) OnUpdate(old, obj object.Object) {
	h.guard(func() { h.to.OnUpdate(old, obj) })
}

func (h crashHandler) OnDelete(deleted informer.Deleted[object.Object]) {
	h.guard(func() { h.to.OnDelete(deleted) })
}

func (h crashHandler) guard(callback func()) {
	if h.call(callback) {
		return
	}
	timer := time.NewTimer(crashPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.informer.context().Done():
	}
}

// crashPause keeps a handler that always panics from filling the log.
const crashPause = time.Second

func (h crashHandler) call(callback func()) (returned bool) {
	defer utilruntime.HandleCrashWithLogger(h.logger)
	callback()
	return true
}

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
