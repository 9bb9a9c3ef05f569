// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// entry is what the Detector keeps of one object that it watches.
type entry struct {
	// set once at construction
	identity Mutation // Informer, Key, UID and ResourceVersion

	used uint64 // the pass in which the object was last seen or stored; Detector.mu guards it

	mu       sync.Mutex     // guards what follows
	pristine runtime.Object // the deep copy, to which the object must be equal
}

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
