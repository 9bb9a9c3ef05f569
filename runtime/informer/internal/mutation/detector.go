// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Detector watches the objects of one informer. It has no goroutine of its own. The nil Detector
// does nothing.
//
//	Store ──▶ entries: object ─▶ deep copy ◀── compare ── Check (before and after a callback)
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

	// mu guards what follows. It is never held together with entry.mu, nor while objects are copied
	// or compared.
	mu      sync.Mutex
	entries map[object.Object]*entry // by identity: all objects are pointers
	// pass is the number of the current or last pass over all objects.
	pass   uint64
	logger *klog.Logger // nil before the first Run
	// lossy has each reflect.Type whose DeepCopyObject doesn't return an equal object.
	lossy map[fmt.Stringer]bool
}

// entry is what the Detector keeps of one object that it watches.
type entry struct {
	// set once at construction
	identity Mutation // Informer, Key, UID and ResourceVersion

	used uint64 // the pass in which the object was last seen or stored; Detector.mu guards it

	mu       sync.Mutex     // guards what follows
	pristine runtime.Object // the deep copy, to which the object must be equal
}

// New returns a Detector that watches nothing yet. The goroutine that finds a mutation calls report
// with it. That may be a goroutine that calls a handler, and several may call report at once. The
// Detector holds no lock meanwhile. If report is nil, the Detector logs an error instead.
func New(informer string, report func(Mutation)) *Detector {
	return &Detector{
		informer: informer,
		report:   report,
		entries:  map[object.Object]*entry{},
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
	var e *entry
	if obj != nil {
		e = d.watch(obj)
	}
	if old != nil {
		if before := d.watch(old); before != e {
			d.compare(old, before, handler)
		}
	}
	d.compare(obj, e, handler)
}

// CheckAll compares every object that is watched. It is for the end of a run, when no callback is
// running.
func (d *Detector) CheckAll() {
	if d == nil {
		return
	}
	for obj, e := range d.entriesWhere(func(*entry) bool { return true }) {
		d.compare(obj, e, "")
	}
}

// --- private from here ---

// watch returns the entry of obj, and makes one if obj was not watched. It returns nil if obj can't
// be watched.
func (d *Detector) watch(obj object.Object) *entry {
	if e, ok := d.lookUp(obj); ok {
		return e
	}
	pristine := obj.DeepCopyObject()
	if path, lossy := compare(pristine, obj); lossy {
		giveUp(d, reflect.TypeOf(obj), path)
		return nil
	}
	e := &entry{pristine: pristine, identity: Mutation{
		Informer:        d.informer,
		Key:             object.KeyOf(obj),
		UID:             obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(),
	}}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other := d.entries[obj]; other != nil { // another goroutine was faster
		e = other
	}
	d.entries[obj] = e
	e.used = d.pass
	return e
}

// lookUp returns the entry of obj, or nil if obj can't be watched. ok is false if obj has no entry
// and its type is not known to be lossy.
func (d *Detector) lookUp(obj object.Object) (e *entry, ok bool) {
	t := reflect.TypeOf(obj)
	if t.Kind() != reflect.Pointer {
		return nil, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e = d.entries[obj]; e != nil {
		e.used = d.pass
		return e, true
	}
	return nil, d.lossy[t]
}

// giveUp notes that objects of a type can't be watched. To save compile time, it is not a method: a
// method's signature would make reflect.Type, and with it generic iterators, reachable from each
// package of generated code.
func giveUp(d *Detector, t reflect.Type, path string) {
	d.mu.Lock()
	warned := d.lossy[t]
	d.lossy[t] = true
	d.mu.Unlock()
	if !warned {
		d.log().Error(nil, "DeepCopyObject does not return an equal object, so mutations of this type can't be found",
			"informer", d.informer, "type", t.String(), "path", path)
	}
}

// compare reports a mutation of obj, and takes the object as it is now for the next comparison.
func (d *Detector) compare(obj object.Object, e *entry, handler string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	path, mutated := compare(e.pristine, obj)
	if mutated {
		e.pristine = obj.DeepCopyObject()
	}
	e.mu.Unlock()
	if !mutated {
		return
	}
	m := e.identity
	m.Path, m.Handler = path, handler
	if d.report != nil {
		d.report(m)
		return
	}
	d.log().Error(m, "A cached object was modified", "informer", m.Informer, "key", m.Key, "handler", m.Handler)
}

func (d *Detector) log() klog.Logger {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.logger != nil {
		return *d.logger
	}
	return klog.Background()
}

// entriesWhere returns a copy of those entries for which keep is true. It calls keep with
// Detector.mu held.
func (d *Detector) entriesWhere(keep func(*entry) bool) map[object.Object]*entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := map[object.Object]*entry{}
	for obj, e := range d.entries {
		if keep(e) {
			kept[obj] = e
		}
	}
	return kept
}
