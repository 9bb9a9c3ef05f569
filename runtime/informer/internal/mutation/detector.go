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
// All methods may be called by several goroutines at once. The struct names neither reflect.Type
// nor a generic type: the compiler would compile their methods anew in each package of generated
// code, which all can reach a Detector.
type Detector struct {
	// set once at construction
	informer string
	report   func(Mutation) // nil: log

	// mu guards what follows. It is not held together with entry.mu, and not while objects are
	// copied or compared.
	mu      sync.Mutex
	entries map[object.Object]*entry // by identity: all objects are pointers
	// the number of the pass over all objects that is going on, or was the last one
	pass   uint64
	logger *klog.Logger // nil before the first Run
	// each a reflect.Type whose DeepCopyObject doesn't return an equal object
	lossy map[fmt.Stringer]bool
}

// entry is an object that is watched.
type entry struct {
	// set once at construction
	identity Mutation // Informer, Key, UID and ResourceVersion

	used uint64 // the pass in which the object was last seen or stored; Detector.mu guards it

	mu       sync.Mutex     // guards what follows
	pristine runtime.Object // what the object has to look like
}

// New returns a Detector that watches nothing yet. report is called with each mutation, by the
// goroutine that has found it, which may be that of a handler, and by several at once; it is not
// called while the Detector holds a lock. nil logs an error.
func New(informer string, report func(Mutation)) *Detector {
	return &Detector{
		informer: informer,
		report:   report,
		entries:  map[object.Object]*entry{},
		lossy:    map[fmt.Stringer]bool{},
	}
}

// Store watches obj from now on. It must be called before anybody else can see obj; if it is
// watched already nothing happens. It never reports.
func (d *Detector) Store(obj object.Object) {
	if d != nil && obj != nil {
		d.entry(obj)
	}
}

// Check compares objects with what they were when they were stored. It is called before a callback,
// with handler "", so that the handler is not blamed for what others did, and after it with the
// handler's name. Objects that are nil are left out; those that are not watched are watched from
// now on.
func (d *Detector) Check(handler string, old, obj object.Object) {
	if d == nil {
		return
	}
	var e *entry
	if obj != nil {
		e = d.entry(obj)
	}
	if old != nil {
		if before := d.entry(old); before != e {
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
	for obj, e := range d.watched(func(*entry) bool { return true }) {
		d.compare(obj, e, "")
	}
}

// --- private from here ---

// entry returns what is known about obj, which is watched from now on if it was not. It returns nil
// for an object that can't be watched.
func (d *Detector) entry(obj object.Object) *entry {
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
	if other := d.entries[obj]; other != nil { // of a goroutine that was faster
		e = other
	}
	d.entries[obj] = e
	e.used = d.pass
	return e
}

// lookUp returns what is known about obj, which is nil if it can't be watched; ok is false if
// nothing is known.
func (d *Detector) lookUp(obj object.Object) (e *entry, ok bool) {
	kind := reflect.TypeOf(obj)
	if kind.Kind() != reflect.Pointer {
		return nil, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e = d.entries[obj]; e != nil {
		e.used = d.pass
		return e, true
	}
	return nil, d.lossy[kind]
}

// giveUp notes that objects of a type can't be watched. It is no method, because packages of
// generated code compile anew what is generic in signatures of methods that can be reached from an
// informer, and reflect.Type has iterators.
func giveUp(d *Detector, kind reflect.Type, path string) {
	d.mu.Lock()
	known := d.lossy[kind]
	d.lossy[kind] = true
	d.mu.Unlock()
	if !known {
		d.log().Error(nil, "DeepCopyObject does not return an equal object, so mutations of this type can't be found",
			"informer", d.informer, "type", kind.String(), "path", path)
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

// watched returns a copy of those entries for which keep is true. keep is called with Detector.mu
// held.
func (d *Detector) watched(keep func(*entry) bool) map[object.Object]*entry {
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
