// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"fmt"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Detector watches the objects of one informer. It has no goroutine of its own. The nil Detector
// does nothing.
//
//	Store ──▶ watched: object ─▶ deep copy ◀── compare ── Check (before and after a callback)
//	                       ▲                      ▲────── Run   (everything, again and again)
//	                       └── Run forgets what has left the cache
//
// All methods may be called by several goroutines at once. To save compile time, the struct names
// neither reflect.Type nor a generic type: each package of generated code can reach a Detector, and
// the compiler would compile the methods of those types in each of these packages.
type Detector struct {
	// set once at construction
	informer string
	report   func(Mutation) // nil: log

	// mu guards what follows. It is never held together with watchedObject.mu, nor while objects
	// are copied or compared.
	mu      sync.Mutex
	watched map[object.Object]*watchedObject // by identity: all objects are pointers
	// pass is the number of the current or last pass over all objects.
	pass   uint64
	logger *klog.Logger // nil before the first Run
	// lossy has each reflect.Type whose DeepCopyObject doesn't return an equal object.
	lossy map[fmt.Stringer]bool
}

// New returns a Detector that watches nothing yet. The goroutine that finds a mutation calls report
// with it. That may be a goroutine that calls a handler, and several may call report at once. The
// Detector holds no lock meanwhile. If report is nil, the Detector logs an error instead.
func New(informer string, report func(Mutation)) *Detector {
	return &Detector{
		informer: informer,
		report:   report,
		watched:  map[object.Object]*watchedObject{},
		lossy:    map[fmt.Stringer]bool{},
	}
}

// Store watches obj from now on. It must be called before other code can see obj. If obj is watched
// already, Store does nothing. It never reports.
func (d *Detector) Store(obj object.Object) {
	if d != nil && obj != nil {
		d.watch(obj)
	}
}

// Check compares objects with their deep copies. It is called before a callback with handler "", so
// that the handler is not blamed for changes by other code, and after the callback with the
// handler's name. It skips objects that are nil. Objects that were not watched are watched from now
// on.
func (d *Detector) Check(handler string, old, obj object.Object) {
	if d == nil {
		return
	}
	var w *watchedObject
	if obj != nil {
		w = d.watch(obj)
	}
	if old != nil {
		if before := d.watch(old); before != w {
			d.compare(old, before, handler)
		}
	}
	d.compare(obj, w, handler)
}

// CheckAll compares every object that is watched. It is for the end of a run, when no callback is
// running.
func (d *Detector) CheckAll() {
	if d == nil {
		return
	}
	for obj, w := range d.watchedWhere(func(*watchedObject) bool { return true }) {
		d.compare(obj, w, "")
	}
}
