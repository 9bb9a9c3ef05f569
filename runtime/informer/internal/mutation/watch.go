// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// watchedObject is what the Detector keeps of one object that it watches.
type watchedObject struct {
	// set once at construction
	identity Mutation // Informer, Key, UID and ResourceVersion

	used uint64 // the pass in which the object was last seen or stored; Detector.mu guards it

	mu       sync.Mutex     // guards what follows
	pristine runtime.Object // the deep copy, to which the object must be equal
}

// watch returns what is kept of obj, which it begins to watch if it has not been. It returns nil if
// obj can't be watched.
func (d *Detector) watch(obj object.Object) *watchedObject {
	if w, ok := d.lookUp(obj); ok {
		return w
	}
	pristine := obj.DeepCopyObject()
	if path, lossy := compare(pristine, obj); lossy {
		giveUp(d, reflect.TypeOf(obj), path)
		return nil
	}
	w := &watchedObject{pristine: pristine, identity: Mutation{
		Informer:        d.informer,
		Key:             object.KeyOf(obj),
		UID:             obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(),
	}}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other := d.watched[obj]; other != nil { // another goroutine was faster
		w = other
	}
	d.watched[obj] = w
	w.used = d.pass
	return w
}

// lookUp returns what is kept of obj, or nil if obj can't be watched. ok is false if obj is not
// watched and its type is not known to be lossy.
func (d *Detector) lookUp(obj object.Object) (w *watchedObject, ok bool) {
	t := reflect.TypeOf(obj)
	if t.Kind() != reflect.Pointer {
		return nil, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if w = d.watched[obj]; w != nil {
		w.used = d.pass
		return w, true
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
func (d *Detector) compare(obj object.Object, w *watchedObject, handler string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	path, mutated := compare(w.pristine, obj)
	if mutated {
		w.pristine = obj.DeepCopyObject()
	}
	w.mu.Unlock()
	if !mutated {
		return
	}
	m := w.identity
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

// watchedWhere returns those of Detector.watched for which keep is true. It calls keep with
// Detector.mu held.
func (d *Detector) watchedWhere(keep func(*watchedObject) bool) map[object.Object]*watchedObject {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := map[object.Object]*watchedObject{}
	for obj, w := range d.watched {
		if keep(w) {
			kept[obj] = w
		}
	}
	return kept
}
