// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	// workTime and restTime limit the passes to a tenth of a core.
	workTime = 5 * time.Millisecond
	restTime = 45 * time.Millisecond
	// passPeriod is the shortest time between the beginnings of two passes.
	passPeriod = time.Second
)

// Detector watches the objects of one informer. It has no goroutine of its own. The nil Detector
// does nothing.
//
//	Store ──▶ objects: object ─▶ deep copy ◀── compare ── Check (before and after a callback)
//	                       ▲                      ▲────── Run   (everything, again and again)
//	                       └── Run forgets objects that have left the cache
//
// All methods may be called by several goroutines at once. To save compile time, the struct names
// neither reflect.Type nor a generic type; see settings.GoType.
type Detector struct {
	// set once at construction
	informer string
	report   func(Mutation) // nil: log

	// mu guards the rest. Objects are copied and compared under it; report is called without it.
	mu      sync.Mutex
	objects map[object.Object]*watchedObject // by identity: all objects are pointers
	pass    uint64                           // the number of the last pass over all objects
	logger  klog.Logger                      // of the last Run
	warned  bool                             // about an object that can't be watched
}

// watchedObject is the Detector's record of one object.
type watchedObject struct {
	identity Mutation       // Informer, Key, UID and ResourceVersion
	lastPass uint64         // the last pass in which the object was seen or stored
	deepCopy runtime.Object // nil if DeepCopyObject doesn't return an equal object
}

// New returns a Detector that watches nothing yet. report is called with each mutation on the
// goroutine that finds it, possibly by several at once, and without a lock; nil logs an error
// instead.
func New(informer string, report func(Mutation)) *Detector {
	return &Detector{
		informer: informer, report: report,
		objects: map[object.Object]*watchedObject{}, logger: klog.Background(),
	}
}

// Store watches obj from now on. It must be called before other code can see obj. If obj is watched
// already, Store does nothing. It never reports.
func (d *Detector) Store(obj object.Object) {
	if d == nil || obj == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchLocked(obj)
}

// Check compares objects with their deep copies. It is called before a callback with handler "", so
// that the handler is not blamed for other code's changes, and after it with the handler's name. It
// skips nil objects, and begins to watch unwatched ones.
func (d *Detector) Check(handler string, old, obj object.Object) {
	if d == nil {
		return
	}
	for _, obj := range [...]object.Object{old, obj} {
		if obj != nil {
			d.reportMutation(d.check(handler, obj))
		}
	}
}

// CheckAll compares every watched object. It is for the end of a run, when no callback is running.
func (d *Detector) CheckAll() {
	if d == nil {
		return
	}
	for _, obj := range d.all() {
		d.reportMutation(d.check("", obj))
	}
}

// Run compares all objects of the cache again and again until ctx is done, and forgets those that
// have left it. current returns the objects now in the cache. Log lines go to the logger of ctx.
// Only one Run may be in progress at a time.
func (d *Detector) Run(ctx context.Context, current func() iter.Seq[object.Object]) {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.logger = klog.FromContext(ctx)
	d.mu.Unlock()
	for {
		next := time.Now().Add(passPeriod)
		if !d.runPass(ctx, current()) || !sleep(ctx, max(restTime, time.Until(next))) {
			return
		}
	}
}

// runPass is one pass of Run. It returns false if ctx is done.
func (d *Detector) runPass(ctx context.Context, objects iter.Seq[object.Object]) bool {
	d.mu.Lock()
	d.pass++
	d.mu.Unlock()
	until := time.Now().Add(workTime)
	pause := func() bool {
		if time.Now().Before(until) {
			return true
		}
		ok := sleep(ctx, restTime)
		until = time.Now().Add(workTime)
		return ok
	}
	for obj := range objects {
		d.reportMutation(d.check("", obj))
		if !pause() {
			return false
		}
	}
	for _, obj := range d.all() {
		d.reportMutation(d.forget(obj))
		if !pause() {
			return false
		}
	}
	return true
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *Detector) all() []object.Object {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.objects))
}

func (d *Detector) check(handler string, obj object.Object) *Mutation {
	d.mu.Lock()
	defer d.mu.Unlock()
	return compareWatched(d.watchLocked(obj), obj, handler)
}

// forget checks an object and stops watching it, unless it was in the cache or in a callback during
// the last two passes.
func (d *Detector) forget(obj object.Object) *Mutation {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.objects[obj]
	if w == nil || w.lastPass+1 >= d.pass {
		return nil
	}
	delete(d.objects, obj)
	return compareWatched(w, obj, "")
}

// watchLocked returns the record of obj, made if necessary; nil if obj is no pointer.
func (d *Detector) watchLocked(obj object.Object) *watchedObject {
	if reflect.TypeOf(obj).Kind() != reflect.Pointer {
		return nil
	}
	w := d.objects[obj]
	if w == nil {
		w = &watchedObject{deepCopy: obj.DeepCopyObject(), identity: Mutation{
			Informer: d.informer, Key: object.KeyOf(obj), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
		}}
		if path, lossy := compare(w.deepCopy, obj); lossy {
			w.deepCopy = nil
			if !d.warned {
				d.warned = true
				d.logger.Error(nil, "DeepCopyObject does not return an equal object, so mutations of this object can't be found",
					"informer", d.informer, "type", reflect.TypeOf(obj).String(), "path", path)
			}
		}
		d.objects[obj] = w
	}
	w.lastPass = d.pass
	return w
}

// compareWatched returns the mutation of obj, and copies the object as it is now for the next
// comparison.
func compareWatched(w *watchedObject, obj object.Object, handler string) *Mutation {
	if w == nil || w.deepCopy == nil {
		return nil
	}
	path, mutated := compare(w.deepCopy, obj)
	if !mutated {
		return nil
	}
	w.deepCopy = obj.DeepCopyObject()
	m := w.identity
	m.Path, m.Handler = path, handler
	return &m
}

func (d *Detector) reportMutation(m *Mutation) {
	switch {
	case m == nil:
	case d.report != nil:
		d.report(*m)
	default:
		d.mu.Lock()
		logger := d.logger
		d.mu.Unlock()
		logger.Error(*m, "A cached object was modified", "informer", m.Informer, "key", m.Key, "handler", m.Handler)
	}
}
