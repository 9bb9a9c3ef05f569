// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// TestPromise09RandomLeases begins and ends leases in every way and order, with callbacks that
// delay the end of a run, and runs that fail. There is exactly one run while there is a lease.
func TestPromise09RandomLeases(t *testing.T) {
	seed := rand.Uint64()
	for round := range 200 {
		synctest.Test(t, func(t *testing.T) { newLeaseModel(t, rand.New(rand.NewPCG(seed, uint64(round)))).play() })
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
}

// leaseModel is an informer with its leases and its calls of Run.
type leaseModel struct {
	*rig
	rng     *rand.Rand
	reading atomic.Int32         // running calls of the reader's Run
	fail    chan chan<- struct{} // makes the reader fail
	sink    *intake.Sink
	active  []*leaseHolder
	ended   []*leaseHolder
	gates   []gate
	blocked atomic.Int32 // running callbacks that wait for a gate
}

// leaseHolder holds a lease, or is in a call of Run.
type leaseHolder struct {
	cancel context.CancelFunc
	lease  *Lease          // nil for a call of Run
	done   <-chan struct{} // closed when the lease or the call has ended
}

var errFailed = errors.New("the reader has failed")

func newLeaseModel(t *testing.T, rng *rand.Rand) *leaseModel {
	n := &leaseModel{rng: rng, fail: make(chan chan<- struct{})}
	i, err := New(Config{Name: "things", Streams: make([]intake.StreamConfig, 1), connect: func(s *intake.Stream) (intake.Reader, error) {
		n.sink = s.Sink()
		return modelReader{n}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	n.rig = &rig{Informer: i, t: t}
	return n
}

// modelReader is the reader of the informer.
type modelReader struct{ *leaseModel }

func (n modelReader) Run(ctx context.Context) error {
	if n.reading.Add(1) > 1 {
		n.t.Error("two runs at once")
	}
	defer n.reading.Add(-1)
	// one object, for the callbacks of block
	for _, word := range []string{"[", "=a@1", "]@1"} {
		if err := send(n.sink, word); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case failed := <-n.fail:
		close(failed)
		return errFailed
	}
}

func (n modelReader) Status() reflector.Status { return reflector.Status{} }

func (n *leaseModel) play() {
	for range n.rng.IntN(40) {
		switch n.rng.IntN(10) {
		case 0, 1, 2:
			n.acquire()
		case 3:
			n.callRun()
		case 4, 5, 6:
			if len(n.active) > 0 {
				n.end(n.active[n.rng.IntN(len(n.active))])
			}
		case 7:
			n.failReader()
		case 8:
			n.block()
		case 9:
			n.open()
		}
		if n.rng.IntN(2) == 0 {
			n.check()
		}
	}
	for len(n.active) > 0 {
		n.end(n.active[0])
	}
	n.check()
	n.open()
	n.check()
}

func (n *leaseModel) acquire() {
	ctx, cancel := context.WithCancel(n.t.Context())
	l, err := n.Acquire(ctx)
	if err != nil {
		n.t.Error(err)
	}
	n.active = append(n.active, &leaseHolder{cancel, l, l.Done()})
}

// callRun calls Run, which may be refused.
func (n *leaseModel) callRun() {
	ctx, cancel := context.WithCancel(n.t.Context())
	running := n.Running()
	done := make(chan struct{})
	refused := make(chan struct{})
	go func() {
		if err := n.Informer.Run(ctx); err == ErrRunning {
			close(refused)
		} else if err != context.Canceled && err != errFailed {
			n.t.Errorf("Run() = %v", err)
		}
		close(done)
	}()
	synctest.Wait()
	if outcome.Closed(refused) {
		if !running {
			n.t.Error("Run() = ErrRunning without a lease")
		}
		cancel()
		return
	}
	n.active = append(n.active, &leaseHolder{cancel, nil, done})
}

func (n *leaseModel) end(holder *leaseHolder) {
	n.active = slices.DeleteFunc(n.active, func(other *leaseHolder) bool { return other == holder })
	n.ended = append(n.ended, holder)
	if holder.lease == nil || n.rng.IntN(2) == 0 {
		holder.cancel()
		return
	}
	go func() {
		if err := holder.lease.Release(context.Background()); err != nil {
			n.t.Error(err)
		}
		if !outcome.Closed(holder.done) {
			n.t.Error("Release has returned before the end of the lease")
		}
		holder.cancel()
	}()
}

// failReader makes the reader fail, if it runs. All leases of its run end.
func (n *leaseModel) failReader() {
	failed := make(chan struct{})
	select {
	case n.fail <- failed:
	default:
		return
	}
	<-failed
	synctest.Wait() // until then, Acquire would join the failing run
	for _, holder := range slices.Clone(n.active) {
		if holder.lease == nil {
			n.end(holder)
		} else if holder.lease.run.ctx.Err() != nil {
			n.active = slices.DeleteFunc(n.active, func(other *leaseHolder) bool { return other == holder })
			n.ended = append(n.ended, holder)
			n.t.Cleanup(holder.cancel)
		}
	}
}

// block adds a handler whose callback blocks until open.
func (n *leaseModel) block() {
	g, h := newGate(), newRecorder(n.t)
	h.before = func(string) {
		n.blocked.Add(1)
		<-g.release
		n.blocked.Add(-1)
	}
	n.gates = append(n.gates, g)
	n.add(h, handlerConfig)
}

func (n *leaseModel) open() {
	for _, g := range n.gates {
		g.open()
	}
	n.gates = nil
}

func (n *leaseModel) check() {
	n.t.Helper()
	synctest.Wait()
	for _, holder := range n.active {
		if outcome.Closed(holder.done) {
			n.t.Error("a lease or a call of Run has ended by itself")
		}
	}
	if n.blocked.Load() > 0 {
		return // a run may be waiting to end, and another one to begin
	}
	for _, holder := range n.ended {
		if !outcome.Closed(holder.done) {
			n.t.Error("a released lease, or a cancelled call of Run, has not ended")
		}
	}
	if got := n.reading.Load() == 1; got != (len(n.active) > 0) || got != n.Running() {
		n.t.Errorf("reading: %v, Running() = %v, with %d leases", got, n.Running(), len(n.active))
	}
}
