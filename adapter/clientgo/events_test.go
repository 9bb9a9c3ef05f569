// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestEvents(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		early := w.add()
		w.run()
		w.wantLines(early, "add a initial")
		w.create("b")
		w.pods.Update(pod("a", on("n1")))
		w.wantLines(early, "add b", "update a")
		late := w.add()
		w.wantLines(late, "add a initial", "add b initial")
		w.pods.Delete("shop", "a")
		w.wantLines(early, "delete a")
		w.wantLines(late, "delete a")
		w.create("a")
		w.wantLines(early, "add a")
		w.wantNames("a", "b")
	})
}

// TestDeletionHasItsVersion: a deleted object of a watch has the version of the deletion.
func TestDeletionHasItsVersion(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		var got string
		w.handle(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) { got = versionOf(obj) }})
		w.run()
		want := w.pods.Delete("shop", "a").ResourceVersion
		synctest.Wait()
		if got != want {
			w.Errorf("the deleted object has version %q, want %q of the deletion", got, want)
		}
	})
}

// TestRelist: a relist reports one difference for each key that changed while no watch was open. A
// tombstone is a cache.DeletedFinalStateUnknown by value with the last known state.
func TestRelist(t *testing.T) {
	onEach(t, func(w *world) {
		for _, name := range []string{"same", "changed", "replaced"} {
			w.create(name)
		}
		w.create("gone", on("n1"))
		j := w.add()
		w.run()
		j.take()
		w.unwatched(func() {
			w.pods.Delete("shop", "gone")
			w.pods.Update(pod("changed", on("n1")))
			w.pods.Delete("shop", "replaced")
			w.create("replaced")
			w.create("new")
		})
		want := []string{"lost shop/gone gone on n1", "update changed", "add new"}
		if w.ours {
			// An object with another UID is another object. An unchanged object is no event.
			want = append(want, "lost shop/replaced replaced on ", "add replaced")
		} else {
			want = append(want, "update replaced", "same same")
		}
		w.wantLines(j, want...)
		w.wantNames("changed", "new", "replaced", "same")
	})
}

// unwatched calls change while no watch is open. The next list must find its changes.
func (w *world) unwatched(change func()) {
	w.Helper()
	end := w.server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusServiceUnavailable)})
	w.server.EndWatches()
	synctest.Wait()
	change()
	w.server.Compact()
	end()
	time.Sleep(2 * time.Minute)
	synctest.Wait()
}

func TestSync(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		hold := make(chan struct{})
		handle := w.addHeld(func() { <-hold }).handle
		wantSynced := func(informer, handler bool) {
			w.Helper()
			synctest.Wait()
			if w.informer.HasSynced() != informer || w.informer.GetController().HasSynced() != informer || handle.HasSynced() != handler {
				w.Errorf("HasSynced: informer %v, its controller %v, handler %v", w.informer.HasSynced(), w.informer.GetController().HasSynced(), handle.HasSynced())
			}
		}
		wantSynced(false, false)
		w.run()
		wantSynced(true, false)
		close(hold)
		wantSynced(true, true)
		if version := w.informer.LastSyncResourceVersion(); version != w.server.ResourceVersion() {
			w.Errorf("LastSyncResourceVersion() = %q, want the server's %q", version, w.server.ResourceVersion())
		}
		late := w.add()
		synctest.Wait()
		if !late.handle.HasSynced() {
			w.Error("HasSynced() = false for a late handler")
		}
	})
}

// TestStoppedBeforeSync: neither the informer nor its handler syncs after the stop.
func TestStoppedBeforeSync(t *testing.T) {
	onEach(t, func(w *world) {
		j := w.add()
		w.server.Inject(hangingServer)
		w.run()()
		if w.informer.HasSynced() || j.handle.HasSynced() || !w.informer.IsStopped() {
			w.Errorf("HasSynced: informer %v, handler %v; IsStopped %v", w.informer.HasSynced(), j.handle.HasSynced(), w.informer.IsStopped())
		}
	})
}

func TestResync(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		w.informer = w.make(time.Minute, nil)
		j := w.add()
		none := &journal{}
		if _, err := w.informer.AddEventHandlerWithResyncPeriod(none, 0); err != nil {
			w.Fatal(err)
		}
		w.run()
		w.wantLines(j, "add a initial")
		time.Sleep(90 * time.Second)
		w.wantLines(j, "same a")
		w.wantLines(none, "add a initial")
	})
}
