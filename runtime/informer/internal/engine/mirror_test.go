// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestMirrorX has the scenarios of client-go's TestX.

// TestMirrorReplaceEvents checks the events of a full state, and the store during these events.
func TestMirrorReplaceEvents(t *testing.T) {
	for _, test := range []struct{ name, before, replace, events, stored string }{
		{"create with no initial objects", "", "[ =1@1 ]@1", "+1@1", "1@1 at 1"},
		{"delete all objects", "+1@1 +3@2", "[ ]@2", "-1@1? -3@2?", " at 2"},
		{"create, update, delete", "+1@1 +2@2 +3@3", "[ =1@4 =2@5 =4@6 ]@6", "-3@3? ~1@4 ~2@5 +4@6", "1@4 2@5 4@6 at 6"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			r := newRig(t)
			h := newRecorder(t)
			r.add(h, handlerConfig)
			defer r.start()()
			r.feed("[ ]@0 " + test.before)
			h.take()
			var events []string
			h.before = func(event string) { events = append(events, event+" of "+r.stored()) }
			r.feed(test.replace)
			h.wantEvents(test.events)
			r.wantStored(test.stored)
			for _, event := range events {
				if want := " of " + test.stored; len(event) < len(want) || event[len(event)-len(want):] != want {
					t.Errorf("event %s, want the store to be %q", event, test.stored)
				}
			}
		})
	}
}

// TestMirrorProcessDeltasInBatch shows that all changes of a batch are stored before the first
// callback, and delivered in the order of the batch.
func TestMirrorProcessDeltasInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		var stored []string
		h.before = func(string) { stored = append(stored, r.stored()) }
		r.add(h, handlerConfig)
		defer r.start()()
		r.feed("[ ]@0")
		r.reader.do(func(s *intake.Sink) error {
			for word := range strings.FieldsSeq("+a@1 ~b@2 ~a@3 -b@4 |@9") {
				if err := send(s, word); err != nil {
					return err
				}
			}
			return s.Flush()
		})
		synctest.Wait()
		h.wantEvents("+a@1 +b@2 ~a@3 -b@4")
		for _, text := range stored {
			if text != "a@3 at 9" {
				t.Errorf("the store during a callback: %q, want a@3 at 9", text)
			}
		}
	})
}

// TestMirrorCacheTransactionShouldIndexErrors shows that an object whose index function panics is
// stored, and so are the other objects of its batch.
func TestMirrorCacheTransactionShouldIndexErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := store.NewIndex("Failing", func(obj object.Object, keys []string) []string {
			if obj.GetName() == "bad" {
				panic("can't read it")
			}
			return append(keys, "read")
		})
		r := newRig(t, failing)
		defer r.start()()
		r.feed("[ =a@1 =bad@1 =c@1 ]@2 ~a@3 ~bad@4 ~c@5")
		r.wantStored("a@3 bad@4 c@5 at 5")
		if n := failing.Len(r.snapshot(), "read"); n != 2 {
			t.Errorf("the index has %d objects, want 2", n)
		}
	})
}

// TestPromise06FullStateIsPublishedOnce shows that readers see the previous version until a full
// state is complete, and that an aborted full state leaves no trace.
func TestPromise06FullStateIsPublishedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		for _, before := range []string{"", "[ =a@1 =b@2 ]@5"} {
			r.feed(before)
			version, changed := r.Table().Version(), r.Changed()
			r.feed("[ =a@6 =c@7 -c@8 =d@9")
			r.feed("! [ =a@6 =x@9")
			if r.Table().Version() != version || outcome.Closed(changed) {
				t.Error("an incomplete full state is published")
			}
			r.feed("!")
			if r.Table().Version() != version || outcome.Closed(changed) || r.intake.Queued() != 0 {
				t.Error("an aborted full state has left a trace")
			}
		}
		changed := r.Changed()
		r.feed("[ =a@6 =x@9 ]@10")
		if !outcome.Closed(changed) {
			t.Error("the channel of Changed is not closed by a publication")
		}
		r.wantStored("a@6 x@9 at 10")
	})
}
