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

// TestPromise09RandomLeases begins and ends leases in every way and order, with handlers whose
// callbacks hold up the end of a run, and runs that fail. There is a run, and only one, as long as
// there is a lease.
func TestPromise09RandomLeases(t *testing.T) {
	seed := rand.Uint64()
	for round := range 200 {
		synctest.Test(t, func(t *testing.T) { newTenancy(t, rand.New(rand.NewPCG(seed, uint64(round)))).play() })
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
}

// tenancy is an informer with its leases and calls of Run.
type tenancy struct {
	*rig
	rng     *rand.Rand
	reading atomic.Int32         // calls of the reader's Run
	fail    chan chan<- struct{} // makes the reader fail
	sink    *intake.Sink
	held    []*tenant
	left    []*tenant
	gates   []gate
	blocked atomic.Int32 // callbacks
}

// tenant holds a lease, or is in Run.
type tenant struct {
	cancel context.CancelFunc
	lease  *Lease          // nil for a call of Run
	done   <-chan struct{} // closed when it is over
}

var errFailed = errors.New("the reader has failed")

func newTenancy(t *testing.T, rng *rand.Rand) *tenancy {
	n := &tenancy{rng: rng, fail: make(chan chan<- struct{})}
	i, err := New(Config{Name: "things", Streams: make([]intake.StreamConfig, 1), connect: func(s *intake.Stream) (intake.Reader, error) {
		n.sink = s.Sink()
		return tenancyReader{n}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	n.rig = &rig{Informer: i, t: t}
	return n
}

// tenancyReader is the reader of the informer.
type tenancyReader struct{ *tenancy }

func (n tenancyReader) Run(ctx context.Context) error {
	if n.reading.Add(1) > 1 {
		n.t.Error("two runs at once")
	}
	defer n.reading.Add(-1)
	// there is an object for the handlers to be busy with
	for _, word := range []string{"[", "=a@1", "]@1"} {
		if err := say(n.sink, word); err != nil {
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

func (n tenancyReader) Status() reflector.Status { return reflector.Status{} }

func (n *tenancy) play() {
	for range n.rng.IntN(40) {
		switch n.rng.IntN(10) {
		case 0, 1, 2:
			n.acquire()
		case 3:
			n.enter()
		case 4, 5, 6:
			if len(n.held) > 0 {
				n.leave(n.held[n.rng.IntN(len(n.held))])
			}
		case 7:
			n.breakDown()
		case 8:
			n.block()
		case 9:
			n.open()
		}
		if n.rng.IntN(2) == 0 {
			n.check()
		}
	}
	for len(n.held) > 0 {
		n.leave(n.held[0])
	}
	n.check()
	n.open()
	n.check()
}

func (n *tenancy) acquire() {
	ctx, cancel := context.WithCancel(n.t.Context())
	l, err := n.Acquire(ctx)
	if err != nil {
		n.t.Error(err)
	}
	n.held = append(n.held, &tenant{cancel, l, l.Done()})
}

// enter calls Run, which may be refused.
func (n *tenancy) enter() {
	ctx, cancel := context.WithCancel(n.t.Context())
	claimed := n.Claimed()
	done := make(chan struct{})
	refused := make(chan struct{})
	go func() {
		if err := n.Informer.Run(ctx); err == ErrRunning {
			close(refused)
		} else if err != context.Canceled && err != errFailed {
			n.t.Errorf("Run: %v", err)
		}
		close(done)
	}()
	synctest.Wait()
	if outcome.Closed(refused) {
		if !claimed {
			n.t.Error("Run was refused although there was no lease")
		}
		cancel()
		return
	}
	n.held = append(n.held, &tenant{cancel, nil, done})
}

func (n *tenancy) leave(who *tenant) {
	n.held = slices.DeleteFunc(n.held, func(other *tenant) bool { return other == who })
	n.left = append(n.left, who)
	if who.lease == nil || n.rng.IntN(2) == 0 {
		who.cancel()
		return
	}
	go func() {
		if err := who.lease.Release(context.Background()); err != nil {
			n.t.Error(err)
		}
		if !outcome.Closed(who.done) {
			n.t.Error("Release has returned before the lease is done")
		}
		who.cancel()
	}()
}

// breakDown makes the reader fail, if there is one. All leases of its run end.
func (n *tenancy) breakDown() {
	failed := make(chan struct{})
	select {
	case n.fail <- failed:
	default:
		return
	}
	<-failed
	synctest.Wait() // Acquire would join what is about to fail
	for _, who := range slices.Clone(n.held) {
		if who.lease == nil {
			n.leave(who)
		} else if who.lease.run.ctx.Err() != nil {
			n.held = slices.DeleteFunc(n.held, func(other *tenant) bool { return other == who })
			n.left = append(n.left, who)
			n.t.Cleanup(who.cancel)
		}
	}
}

// block adds a handler whose callback blocks until open.
func (n *tenancy) block() {
	g, h := newGate(), record(n.t)
	h.before = func(string) {
		n.blocked.Add(1)
		<-g.let
		n.blocked.Add(-1)
	}
	n.gates = append(n.gates, g)
	n.add(h, lately)
}

func (n *tenancy) open() {
	for _, g := range n.gates {
		g.open()
	}
	n.gates = nil
}

func (n *tenancy) check() {
	n.t.Helper()
	synctest.Wait()
	for _, who := range n.held {
		if outcome.Closed(who.done) {
			n.t.Error("a tenant that stays was sent away")
		}
	}
	if n.blocked.Load() > 0 {
		return // a run may be waiting to end, and another one to begin
	}
	for _, who := range n.left {
		if !outcome.Closed(who.done) {
			n.t.Error("a tenant that has left is not done")
		}
	}
	if got := n.reading.Load() == 1; got != (len(n.held) > 0) || got != n.Claimed() {
		n.t.Errorf("reads: %v, claimed: %v, for %d", got, n.Claimed(), len(n.held))
	}
}
