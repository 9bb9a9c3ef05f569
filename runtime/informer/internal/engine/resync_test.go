// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
)

func TestResyncRepeatsEveryObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, never := newRecorder(t), newRecorder(t)
		r.add(h, fanout.HandlerConfig{Resync: time.Minute, Threshold: 1024})
		r.add(never, handlerConfig)
		stop := r.start()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.wantEvents("") // before the sync, there is nothing to resync
		r.feed("[ =a@1 =b@1 ]@5")
		synctest.Wait()
		h.take()
		never.take()
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		h.wantEvents("~a@1 ~b@1")
		r.feed("~a@6")
		h.wantEvents("~a@6")
		time.Sleep(time.Minute)
		synctest.Wait()
		h.wantEvents("~a@6 ~b@1")
		never.wantEvents("~a@6")
		h.wantTable(r)
		stop()
	})
}

// TestResyncWaitsUntilCaughtUp shows that a resync delivers only states that the handler already
// has.
func TestResyncWaitsUntilCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		r.add(h, fanout.HandlerConfig{Resync: time.Minute, Threshold: fanout.Never})
		defer r.start()()
		r.feed("[ =a@1 =b@1 ]@5")
		h.take()
		g := h.hold()
		r.feed("~a@6 ~b@7")
		time.Sleep(5 * time.Minute)
		g.pass()
		g.pass() // it has caught up and is in the resync of a
		r.feed("~b@8 -a@9")
		g.open()
		synctest.Wait()
		h.wantEvents("~a@6 ~b@7 ~a@6 ~b@7 ~b@8 -a@9")
		h.wantTable(r)
	})
}
