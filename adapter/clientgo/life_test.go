// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// hangingServer is the fault of a server that does not answer.
var hangingServer = sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(sourcetest.ErrHang)}

// isShutDown reports whether the handler of a registration gets no more events.
func isShutDown(t *testing.T, handle cache.ResourceEventHandlerRegistration) bool {
	t.Helper()
	r, ok := handle.(interface{ ShutdownChan() <-chan struct{} })
	if !ok {
		t.Skip("this version of client-go has no ShutdownChan")
	}
	synctest.Wait()
	select {
	case <-r.ShutdownChan():
		return true
	default:
		return false
	}
}

func TestRemovedHandler(t *testing.T) {
	onEach(t, func(w *world) {
		before, j, other := w.add(), w.add(), w.add()
		remove := func(j *journal) {
			w.Helper()
			w.ok(w.informer.RemoveEventHandler(j.handle))
		}
		remove(before)
		if !isShutDown(w.T, before.handle) {
			w.Error("a handler removed before the start is not shut down")
		}
		w.run()
		w.create("a")
		w.wantLines(j, "add a")
		remove(j)
		remove(j)
		if !isShutDown(w.T, j.handle) || isShutDown(w.T, other.handle) {
			w.Errorf("shut down: the removed handler %v, the other %v", isShutDown(w.T, j.handle), isShutDown(w.T, other.handle))
		}
		w.create("b")
		w.wantLines(j)
		w.wantLines(before)
		w.wantLines(other, "add a", "add b")
	})
}

// TestRemoveDoesNotWait: a handler may be removed during a callback, even by itself.
func TestRemoveDoesNotWait(t *testing.T) {
	onEach(t, func(w *world) {
		hold, removed := make(chan struct{}), make(chan error, 1)
		var handle cache.ResourceEventHandlerRegistration
		var err error
		handle, err = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			removed <- w.informer.RemoveEventHandler(handle)
			<-hold
		}})
		if err != nil {
			w.Fatal(err)
		}
		w.run()
		w.create("a")
		if err := <-removed; err != nil {
			w.Error(err)
		}
		if isShutDown(w.T, handle) {
			w.Error("the handler is shut down while its callback runs")
		}
		close(hold)
		if !isShutDown(w.T, handle) {
			w.Error("the handler is not shut down after its callback")
		}
	})
}

func TestStop(t *testing.T) {
	onEach(t, func(w *world) {
		j := w.add()
		stop := w.run()
		if w.informer.IsStopped() {
			w.Error("IsStopped() = true while the informer runs")
		}
		stop()
		if !w.informer.IsStopped() || !isShutDown(w.T, j.handle) {
			w.Errorf("after the stop: IsStopped() = %v, handler shut down %v", w.informer.IsStopped(), isShutDown(w.T, j.handle))
		}
		// Programs compare these texts of client-go.
		if _, err := w.informer.AddEventHandler(&journal{}); !endsIn(err, "was not added to shared informer because it has stopped already") {
			w.Errorf("AddEventHandler after the stop: error %v", err)
		}
		if err := w.informer.AddIndexers(byNode); !endsIn(err, "indexer was not added because it has stopped already") {
			w.Errorf("AddIndexers after the stop: error %v", err)
		}
		w.ok(w.informer.RemoveEventHandler(j.handle))
		w.run() // only logs a line
		w.create("a")
		w.wantLines(j)
	})
}

func endsIn(err error, text string) bool { return err != nil && strings.HasSuffix(err.Error(), text) }

// TestStopWaitsForCallbacks: a run ends after the last callback has returned.
func TestStopWaitsForCallbacks(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		returned := false
		if _, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Minute)
			returned = true
		}}); err != nil {
			w.Fatal(err)
		}
		w.run()()
		if !returned {
			w.Error("Run returned during a callback")
		}
	})
}

func TestForeignRegistration(t *testing.T) {
	onEach(t, func(w *world) {
		j := w.add()
		other := w.make(0, nil)
		if err := other.RemoveEventHandler(j.handle); err != nil {
			w.Errorf("RemoveEventHandler of another informer's registration: %v", err)
		}
		if err := other.RemoveEventHandler(cache.NewFIFO(cache.MetaNamespaceKeyFunc)); err == nil {
			w.Error("RemoveEventHandler of a FIFO returned no error")
		}
		w.run()
		w.create("a")
		w.wantLines(j, "add a")
	})
}

func TestSettingsAfterStart(t *testing.T) {
	onEach(t, func(w *world) {
		w.ok(w.informer.SetTransform(nil))
		w.run()
		if w.informer.SetTransform(nil) == nil {
			w.Error("SetTransform after the start returned no error")
		}
		if w.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}) == nil {
			w.Error("SetWatchErrorHandler after the start returned no error")
		}
	})
}

// checkerOf returns the result of HasSyncedChecker, which client-go has since v0.36.
func checkerOf(t *testing.T, of any) interface {
	Name() string
	Done() <-chan struct{}
} {
	t.Helper()
	method := reflect.ValueOf(of).MethodByName("HasSyncedChecker")
	if !method.IsValid() {
		t.Skip("this version of client-go has no HasSyncedChecker")
	}
	return method.Call(nil)[0].Interface().(interface {
		Name() string
		Done() <-chan struct{}
	})
}

func TestHasSyncedChecker(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		hold := make(chan struct{})
		handle := w.handle(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-hold }})
		informer, handler := checkerOf(w.T, w.informer), checkerOf(w.T, handle)
		if name := informer.Name(); name != "SharedIndexInformer *v1.Pod" {
			w.Errorf("the name of the informer's checker is %q", name)
		}
		if name := handler.Name(); !strings.HasPrefix(name, "SharedIndexInformer *v1.Pod + event handler ") || !strings.Contains(name, "TestHasSyncedChecker") {
			w.Errorf("the name of the handler's checker is %q", name)
		}
		w.run()
		select {
		case <-handler.Done():
			w.Error("the handler's checker is done during its initial callback")
		case <-informer.Done():
		}
		close(hold)
		<-handler.Done()
		if !w.informer.HasSynced() || !handle.HasSynced() {
			w.Error("the checker is done, but HasSynced() = false")
		}
	})
}

// TestTransform: the store and the handlers get the transformed objects.
func TestTransform(t *testing.T) {
	onEach(t, func(w *world) {
		w.ok(w.informer.SetTransform(func(obj any) (any, error) {
			obj.(*corev1.Pod).Spec.NodeName = "elsewhere"
			return obj, nil
		}))
		w.create("a", on("n1"))
		w.run()
		w.create("b", on("n1"))
		w.wantNames("a", "b")
		for _, obj := range w.informer.GetStore().List() {
			if node := obj.(*corev1.Pod).Spec.NodeName; node != "elsewhere" {
				w.Errorf("%s has the node %q", nameIn(obj), node)
			}
		}
	})
}

// TestTransformFails: the informer does not sync, and the error handler gets the reason.
func TestTransformFails(t *testing.T) {
	onEach(t, func(w *world) {
		if !w.ours {
			w.Skip("client-go syncs, without the objects")
		}
		failures := w.failures()
		w.ok(w.informer.SetTransform(func(any) (any, error) { return nil, errors.New("not today") }))
		w.create("a")
		w.run()
		time.Sleep(time.Minute)
		if got := failures(); w.informer.HasSynced() || len(got) == 0 || !strings.Contains(got[0].Error(), "not today") {
			w.Errorf("HasSynced() = %v, errors %v", w.informer.HasSynced(), got)
		}
	})
}

// TestTransformFailsForOne: until the transform succeeds for all objects, the store stays as it
// was. client-go leaves out only the failed object.
func TestTransformFailsForOne(t *testing.T) {
	onEach(t, func(w *world) {
		failures := w.failures()
		var mended atomic.Bool
		w.ok(w.informer.SetTransform(func(obj any) (any, error) {
			if nameIn(obj) == "b" && !mended.Load() {
				return nil, errors.New("not this one")
			}
			return obj, nil
		}))
		w.create("a")
		w.run()
		w.create("b")
		w.create("c")
		time.Sleep(10 * time.Minute)
		if !w.ours {
			w.wantNames("a", "c")
			return
		}
		w.wantNames("a")
		if got := failures(); !w.informer.HasSynced() || len(got) < 10 || !strings.Contains(got[9].Error(), "not this one") {
			w.Errorf("synced %v, errors %v", w.informer.HasSynced(), got)
		}
		mended.Store(true)
		time.Sleep(2 * time.Minute)
		w.wantNames("a", "b", "c")
	})
}

// failures sets an error handler, and returns a function for its errors.
func (w *world) failures() func() []error {
	w.Helper()
	var mu sync.Mutex
	var all []error
	w.ok(w.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Value(keyOfRun{}) != "run" {
			w.Error("the error handler's context is not the run's")
		}
		if !strings.Contains(r.TypeDescription(), "v1.Pod") || r.Name() == "" || r.LastSyncResourceVersion() != "" {
			w.Errorf("the reflector has the name %q, the type %q and the version %q", r.Name(), r.TypeDescription(), r.LastSyncResourceVersion())
		}
		cache.DefaultWatchErrorHandler(ctx, r, err)
		all = append(all, err)
	}))
	return func() []error {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func TestWatchErrorHandler(t *testing.T) {
	onEach(t, func(w *world) {
		failures := w.failures()
		end := w.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		w.create("a")
		w.run()
		time.Sleep(time.Minute)
		if got := failures(); w.informer.HasSynced() || len(got) == 0 || !apierrors.IsForbidden(got[0]) {
			w.Errorf("synced %v, errors %v", w.informer.HasSynced(), got)
		}
		end()
		time.Sleep(2 * time.Minute)
		w.wantNames("a")
	})
}
