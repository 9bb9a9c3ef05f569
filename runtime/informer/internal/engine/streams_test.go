// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cmpdiff "github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// versions returns the resourceVersions of the informer and of its namespaces.
func (r *rig) versions() string {
	v := r.Table().Version()
	texts := []string{v.ResourceVersion()}
	for _, s := range r.streams() {
		texts = append(texts, s.Namespace()+"="+v.NamespaceResourceVersion(s.Namespace()))
	}
	return strings.Join(texts, " ")
}

func (r *rig) wantVersions(want string) {
	r.t.Helper()
	if got := r.versions(); got != want {
		r.t.Errorf("versions of the table: %q, want %q", got, want)
	}
}

func TestStreamsOfSeveralNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two", "three")
		h := newRecorder(t)
		s := r.add(h, handlerConfig)
		stop := r.start()
		synced := func(want bool) {
			t.Helper()
			if r.HasSynced() != want || s.HasSynced() != want {
				t.Errorf("informer synced %v, handler synced %v, want %v", r.HasSynced(), s.HasSynced(), want)
			}
		}
		r.wantVersions(" one= two= three=")

		r.feedTo(0, "[ =a@10 =b@9 ]@12")
		h.wantEvents("=a@10 =b@9")
		r.feedTo(0, "~a@13")
		h.wantEvents("~a@13")
		lateHandler := newRecorder(t)
		lateSub := r.add(lateHandler, handlerConfig)
		synctest.Wait()
		lateHandler.wantEvents("=a@13 =b@9")
		synced(false)
		r.wantVersions(" one=13 two= three=")

		r.feedTo(1, "[ ]@8")
		synced(false)
		r.feedTo(2, "[ =x@7 ]@9")
		h.wantEvents("=x@7")
		lateHandler.wantEvents("=x@7")
		synced(true)
		if !lateSub.HasSynced() {
			t.Error("the late handler has not synced")
		}
		r.wantVersions("8 one=13 two=8 three=9")
		r.feedTo(1, "+y@100")
		r.wantVersions("9 one=13 two=100 three=9")
		h.wantEvents("+y@100")

		// A full state of one stream replaces its namespace, and nothing else.
		r.feedTo(1, "[ =z@101 ]@102")
		h.wantEvents("-y@100? +z@101")
		r.feedTo(0, "[ ]@20")
		h.wantEvents("-a@13? -b@9?")
		r.wantStored("x@7 z@101 at 9")
		if v := r.Table().Version(); v.NamespaceResourceVersion("four") != "" || v.NamespaceResourceVersion("") != "9" {
			t.Errorf("the version of an unread namespace is %q, that of all is %q", v.NamespaceResourceVersion("four"), v.NamespaceResourceVersion(""))
		}
		stop()

		// The next run starts each stream anew; the objects stay until then.
		defer r.start()()
		r.wantStored("x@7 z@101 at 9")
		r.feedTo(1, "[ =z@103 ]@104")
		h.wantEvents("~z@103")
		r.feedTo(0, "[ =a@30 ]@31")
		h.wantEvents("+a@30")
		r.feedTo(2, "[ =x@7 ]@40")
		h.wantEvents("")
		h.wantTable(r)
	})
}

// TestResyncDoesNotWaitForAllStreams has a stream without a full state.
func TestResyncDoesNotWaitForAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		h := newRecorder(t)
		r.add(h, fanout.HandlerConfig{Resync: time.Minute, Threshold: 1024})
		defer r.start()()
		r.feedTo(1, "[ =a@1 ]@1")
		h.wantEvents("=a@1")
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		h.wantEvents("~a@1")
	})
}

// TestHandlerSyncsAfterTheLastStream has a handler in a callback for one stream when the last
// stream syncs.
func TestHandlerSyncsAfterTheLastStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		h, g := newRecorder(t), newGate()
		h.before = g.wait
		s := r.add(h, fanout.HandlerConfig{Threshold: 0})
		defer r.start()()
		r.feedTo(0, "[ =a@1 =b@1 ]@1")
		r.feedTo(0, "~a@2 ~b@2")
		r.feedTo(1, "[ =x@1 =y@1 ]@1")
		r.feedTo(1, "~y@2 -x@3")
		if got := s.Status(); got.Backlog != 3+4 || got.Callback != "OnAdd" {
			t.Errorf("Status() = %+v, want 7 waiting events, in OnAdd", got)
		}
		// a, b, y; a was in its callback when it became a@2, and x was gone before its own
		for range 3 {
			if s.HasSynced() {
				t.Error("synced before all initial objects returned")
			}
			g.pass()
		}
		h.wantEvents("=a@1 =b@2 =y@2")
		if !s.HasSynced() {
			t.Error("the handler has not synced after its initial objects")
		}
		g.open()
		synctest.Wait()
		h.wantEvents("~a@2")
		h.wantTable(r)
	})
}

func TestWrongStreams(t *testing.T) {
	for want, streams := range map[string][]intake.StreamConfig{
		"there is nothing to read; give at least one namespace": nil,
		"one of several streams has no namespace":               {{Namespace: "a"}, {}},
		`namespace "a" is given twice`:                          {{Namespace: "a"}, {Namespace: "b"}, {Namespace: "a"}},
	} {
		if _, err := New(Config{Name: "things", Streams: streams}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := New(Config{Name: "things", Streams: make([]intake.StreamConfig, 1)}); err == nil || !strings.Contains(err.Error(), "the Source of stream things is nil") {
		t.Errorf("without a source: %v", err)
	}
}

func TestStatusOfEachStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		defer r.start()()
		r.feedTo(1, "[ =a@1 =b@2 ]@3")
		want := []StreamStatus{{Namespace: "one"}, {Namespace: "two", Synced: true, Objects: 2, ResourceVersion: "3"}}
		if diff := cmpdiff.Diff(want, r.Streams()); diff != "" {
			t.Errorf("Streams() (-want +got):\n%s", diff)
		}
	})
}

// TestPromise05WaitGivesUp shows that WaitForCacheSync ends when giveUp returns true for a stream's
// failure, and that the error names the stream.
func TestPromise05WaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two", "three")
		defer r.start()()
		r.feedTo(0, "[ ]@1")
		ended := make(chan error, 1)
		go func() { ended <- WaitForCacheSync(t.Context(), reason.Reason.Lasting, Wait{Informer: r.Informer}) }()
		for n, reason := range []reason.Reason{reason.Forbidden, reason.Unreachable, reason.Forbidden} {
			synctest.Wait()
			if len(ended) > 0 {
				// the first stream has synced, the second may come back
				t.Fatalf("gave up: %v", <-ended)
			}
			time.Sleep(time.Second)
			r.readers[n].mu.Lock()
			r.readers[n].status = reflector.Status{State: reflector.StateWaiting, Since: time.Now(), Reason: reason, LastError: errStop}
			r.readers[n].mu.Unlock()
			r.notify()
		}
		err := <-ended
		want := "1 of 1 informers not synced after 3s: things in two is waiting to try again for 1s: the test stops the informer; " +
			"things in three is waiting to try again for 0s: the test stops the informer"
		if err == nil || err.Error() != want || !errors.Is(err, errStop) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if len(r.observers) != 0 {
			t.Errorf("%d observers left, want 0", len(r.observers))
		}
	})
}

// TestPromise02SnapshotsAreWholeBatches reads the table while full states come in. All objects of
// one full state have the same version, so a mixture would show.
func TestPromise02SnapshotsAreWholeBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{Indexes: []intake.Indexer{byName()}}, "one", "two")
		defer r.start()()
		stop := make(chan struct{})
		done := make(chan int)
		go func() {
			reads := 0
			for !outcome.Closed(stop) {
				reads++
				v := r.Table().Version()
				for _, namespace := range []string{"one", "two"} {
					version := v.NamespaceResourceVersion(namespace)
					n := 0
					for obj := range v.Namespace(namespace).All {
						n++
						if obj.GetResourceVersion() != version {
							t.Errorf("object %s at %s in a snapshot at %s", object.KeyOf(obj), obj.GetResourceVersion(), version)
						}
					}
					if n != 0 && n != 3 {
						t.Errorf("a snapshot has %d objects, want 0 or 3", n)
					}
				}
			}
			done <- reads
		}()
		for version := 1; version < 400; version++ {
			for n := range r.readers {
				words := strings.ReplaceAll("[ =a@V =b@V =c@V ]@V", "V", string(rune('0'+version%10)))
				r.sendTo(n, words)
			}
		}
		close(stop)
		if <-done == 0 {
			t.Error("nothing was read")
		}
	})
}
