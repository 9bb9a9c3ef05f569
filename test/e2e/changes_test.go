// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestCreateUpdateDelete(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	f, i := crateInformer(t, shared.url, ns)
	h, _ := listen(t, i)
	runSynced(t, f)

	created := ns.create(t, crate("blue", func(c *Crate) { c.Spec.Ship = "Argo"; c.Spec.Ports = []string{"Oslo", "Kiel"} }))
	h.wantLines(0, "add blue")
	got, ok := i.Store().Snapshot().Get(object.Key{Namespace: ns.namespace, Name: "blue"})
	if !ok || got.GetUID() != created.GetUID() || got.Kind != "Crate" || got.APIVersion != "harbour.example.com/v1" ||
		got.Spec.Ship != "Argo" || len(got.Spec.Ports) != 2 || got.CreationTimestamp.IsZero() {
		t.Errorf("the store has %+v", got)
	}

	ns.load(t, "blue", 5)
	h.wantLines(1, "update blue")
	if c, _ := i.Store().Snapshot().Get(object.KeyOf(got)); c.Spec.Weight != 5 || got.Spec.Weight != 0 {
		t.Errorf("weights %d and, in the object from before, %d; want 5 and 0", c.Spec.Weight, got.Spec.Weight)
	}

	// A write that changes nothing is no event.
	ns.load(t, "blue", 5)
	ns.delete(t, "blue")
	h.wantLines(2, "delete blue")
	agree(t, state{}, h, i.Store())
}

// One name, two objects: delete and then add, whether the informer watches or not.
func TestRecreatedObjectIsADeleteAndAnAdd(t *testing.T) {
	t.Parallel()
	recreate := func(t *testing.T, ns in) {
		t.Helper()
		ns.delete(t, "blue")
		ns.create(t, crate("blue"))
	}

	t.Run("while watching", func(t *testing.T) {
		t.Parallel()
		ns := shared.crates(t)
		f, i := crateInformer(t, shared.url, ns)
		h, _ := listen(t, i)
		ns.create(t, crate("blue"))
		runSynced(t, f)
		recreate(t, ns)
		h.wantLines(0, "add blue", "delete blue", "add blue")
		agree(t, ns.state(t), h, i.Store())
	})

	t.Run("while disconnected", func(t *testing.T) {
		t.Parallel()
		ns := shared.crates(t)
		p := newProxy(t, shared.url, nil)
		f, i := crateInformer(t, p.url, ns)
		h, _ := listen(t, i)
		ns.create(t, crate("blue"))
		runSynced(t, f)
		p.disconnect(t)
		recreate(t, ns)
		p.setFaults(nil)
		p.cut()
		h.wantLines(0, "add blue", "delete blue", "add blue")
		agree(t, ns.state(t), h, i.Store())
	})

	t.Run("behind a 410", func(t *testing.T) {
		t.Parallel()
		ns := shared.crates(t)
		p := newProxy(t, shared.url, nil)
		f, i := crateInformer(t, p.url, ns)
		h, _ := listen(t, i)
		ns.create(t, crate("blue"))
		ns.create(t, crate("green"))
		runSynced(t, f)
		h.await("both", func() bool { return len(h.live) == 2 })
		p.disconnect(t)
		recreate(t, ns)
		ns.settle(t)
		p.setFaults(next(p, fault{status: http.StatusGone}))
		p.cut()
		h.wantLines(2, "delete blue unseen", "add blue")
		agree(t, ns.state(t), h, i.Store())
	})
}

// gated is a handler that waits for a gate before each callback.
type gated struct {
	informer.Handler[*Crate]
	gate <-chan struct{}
}

// newGated makes a history behind a gate. The gate must be released before the factory can end:
// defer that.
func newGated(t *testing.T) (h *history[*Crate], handler informer.Handler[*Crate], release func()) {
	h, gate := newHistory[*Crate](t), make(chan struct{})
	return h, gated{h, gate}, sync.OnceFunc(func() { close(gate) })
}

func (g gated) OnAdd(obj *Crate, initial bool) {
	<-g.gate
	g.Handler.OnAdd(obj, initial)
}

func (g gated) OnUpdate(old, obj *Crate) {
	<-g.gate
	g.Handler.OnUpdate(old, obj)
}

func (g gated) OnDelete(d informer.Deleted[*Crate]) {
	<-g.gate
	g.Handler.OnDelete(d)
}

func TestResyncIsForTheHandlerThatAsked(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 5)
	f, i := crateInformer(t, shared.url, ns)
	resynced, _ := listen(t, i, informer.WithResyncPeriod(time.Second))
	plain, _ := listen(t, i)
	runSynced(t, f)
	resynced.await("second resync", func() bool { return resynced.resyncs >= 10 })
	if n := plain.resyncs; n != 0 {
		t.Errorf("%d resyncs of a handler without a period", n)
	}
	agree(t, ns.state(t), plain, i.Store())
}

// A write can be awaited, and then be read.
func TestAwaitResourceVersion(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	f, i := crateInformer(t, shared.url, ns)
	runSynced(t, f)
	ns.create(t, crate("blue"))
	for weight := int64(1); weight <= 20; weight++ {
		written := ns.load(t, "blue", weight)
		if err := i.AwaitResourceVersion(deadline(t), written.GetResourceVersion()); err != nil {
			t.Fatal(err)
		}
		got, ok := i.Store().Snapshot().Get(object.Key{Namespace: ns.namespace, Name: "blue"})
		if !ok || got.Spec.Weight < weight {
			t.Fatalf("the store has %+v after the write of weight %d", got, weight)
		}
	}

	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := i.AwaitResourceVersion(ctx, "999999999999"); !errors.Is(err, why) {
		t.Errorf("waiting for the future gives %v, want %v", err, why)
	}
	if err := i.AwaitResourceVersion(t.Context(), "yesterday"); err == nil {
		t.Error("waiting for yesterday gives no error")
	}
}
