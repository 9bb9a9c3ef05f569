// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	requests "github.com/informer-gen/informer-gen/runtime/manager/internal/fence"
)

// run is one membership: the time from Run's call to its return. One goroutine, Run's, decides; its
// requests have goroutines of their own, which report to it.
type run struct {
	// set once at construction
	ring        *Ring
	identity    string
	coordinator *election.Election
	term        *requests.Term  // of the gate
	background  context.Context // lasts until all goroutines have ended
	logger      klog.Logger
	began       time.Time     // the origin of all times
	wake        chan struct{} // has room for one
	reports     chan report
	wg          sync.WaitGroup

	leads atomic.Bool // the process is the coordinator

	mu        sync.Mutex // mu guards the fields below
	view      view
	stored    map[string]*coordinationv1.Lease // members' Leases in the view
	member    member
	draining  []drain         // by bucket
	unowned   []time.Duration // since when nobody has worked on a bucket; 0 if somebody does
	lastOwner []string        // by bucket; "" before the first
	lease     lease           // as last written; version "" before
	renewal   *lease          // on its way; nil for none
	renewAt   time.Duration
	attempts  map[string]time.Duration // the coordinator's writes, and when they were sent
	leaveAt   time.Duration            // when Run's context was done; 0 before
	workEnded bool
	ended     bool // Run has returned, or is about to
	counts    counts
}

type counts struct{ granted, released, evicted uint64 }

// drain is the end of a bucket in this process.
type drain struct {
	since time.Duration
	// shut is closed when no request of the bucket is on its way; nil while its fence is open.
	shut    <-chan struct{}
	awaited bool
}

// report is the end of a request.
type report struct {
	renewal *renewalResult
	write   *writeResult
}

func newRun(ctx context.Context, r *Ring, identity string, coordinator *election.Election) *run {
	n := r.options.Buckets
	m := &run{
		ring: r, identity: identity, coordinator: coordinator, background: context.WithoutCancel(ctx),
		logger: klog.FromContext(ctx).WithValues("ring", r.options.Name, "member", identity),
		began:  time.Now(), wake: make(chan struct{}, 1), reports: make(chan report),
		member:   member{identity: identity, claims: make([]claim, n), released: make([]uint64, n)},
		draining: make([]drain, n), unowned: make([]time.Duration, n), lastOwner: make([]string, n), attempts: map[string]time.Duration{},
	}
	m.term = r.gate.Begin(m.background, identity)
	for b := range m.unowned {
		m.unowned[b] = 1 // until somebody is seen
	}
	m.lease = lease{identity: identity, settings: r.settings, state: joining, duration: r.options.LeaseDuration, weight: r.options.Weight}
	return m
}

func (m *run) now() time.Duration { return time.Since(m.began) }

func (m *run) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// do takes part until ctx is done, and returns nil if that ended it.
func (m *run) do(ctx context.Context, work func(context.Context) error) error {
	defer m.term.Close(errEnded)
	reading, err := m.ring.leases.Acquire(m.background)
	if err != nil {
		return err
	}
	defer func() { _ = reading.Release(m.background) }() // fails only if its context is done
	registration, err := m.ring.leases.AddEventHandler(informer.HandlerFuncs[*coordinationv1.Lease]{
		AddFunc:    func(*coordinationv1.Lease, bool) { m.poke() },
		UpdateFunc: func(_, _ *coordinationv1.Lease) { m.poke() },
		DeleteFunc: func(informer.Deleted[*coordinationv1.Lease]) { m.poke() },
	})
	if err != nil {
		return err
	}
	defer registration.Remove()
	if err := m.ring.leases.WaitForCacheSync(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	coordinating, stopCoordinating := context.WithCancel(m.background)
	defer m.wg.Wait()
	defer stopCoordinating()
	m.wg.Go(func() { m.coordinate(coordinating) })
	working := &working{run: m, work: work}
	err = m.loop(ctx, working)
	stopCoordinating() // nobody decides here any more, however long work goes on
	if errors.Is(err, ErrLost) {
		m.term.Close(errTaken)
	}
	working.end(err)
	m.term.Close(errEnded)
	m.giveUp()
	if err == nil {
		err = working.err
	}
	return err
}

// working is the call of work.
type working struct {
	run    *run
	work   func(context.Context) error
	cancel context.CancelCauseFunc // nil before it was called
	ended  chan struct{}
	err    error // set before ended is closed
}

func (w *working) begin() {
	if w.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(w.run.background)
	w.cancel, w.ended = cancel, make(chan struct{})
	go func() {
		defer w.run.poke()
		defer close(w.ended)
		w.err = fmt.Errorf("the function called runtime.Goexit")
		w.err = w.work(ctx)
	}()
}

// end ends the context of work, and waits for its return.
func (w *working) end(cause error) {
	if w.cancel == nil {
		return
	}
	w.cancel(cause)
	<-w.ended
}

func (w *working) hasEnded() bool {
	if w.cancel == nil {
		return false
	}
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// loop decides, whenever something has changed, until this process has left or is lost.
func (m *run) loop(ctx context.Context, w *working) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer m.abandon()
	for {
		changed := m.ring.hub.Changed() // before looking
		next, done, err := m.step(ctx.Err() != nil, w)
		if err != nil || done {
			return err
		}
		timer.Reset(next)
		leave := ctx.Done()
		if ctx.Err() != nil {
			leave = nil
		}
		select {
		case <-changed:
		case <-m.wake:
		case <-timer.C:
		case <-leave:
		case <-m.term.Context().Done():
		case report := <-m.reports:
			if err := m.take(report); err != nil {
				return err
			}
		}
	}
}

// step notes all changes, moves the buckets and sends the requests that are due. next is the time
// until the next step at the latest; done is true when the process has left.
func (m *run) step(leave bool, w *working) (next time.Duration, done bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if err := m.look(now); err != nil {
		return 0, false, err
	}
	if m.renewed() {
		if m.term.Err() != nil {
			return 0, false, fmt.Errorf("%w: its last renewal is too old", ErrLost)
		}
		w.begin()
	}
	m.workEnded = w.hasEnded()
	if leave && m.leaveAt == 0 {
		m.leaveAt = now
	}
	m.moveBuckets(now)
	if m.mayGo(now) {
		return 0, true, nil
	}
	m.renew(now)
	if m.leads.Load() {
		m.plan(now)
	}
	return m.untilNext(now), false, nil
}

// mayGo reports whether this process is to leave, and has given up all buckets. A coordinator stays
// until others own them.
func (m *run) mayGo(now time.Duration) bool {
	if m.leaveAt == 0 && !m.workEnded || slices.ContainsFunc(m.member.claims, claim.works) {
		return false
	}
	owns := slices.ContainsFunc(m.view.table.buckets, func(e entry) bool { return e.Owner == m.identity })
	return !owns || !m.leads.Load() || m.mustGo(now)
}

// mustGo reports whether this process gives up all buckets without waiting for others.
func (m *run) mustGo(now time.Duration) bool {
	return m.workEnded || m.leaveAt > 0 && (!m.hasSuccessor(now) || now-m.leaveAt >= m.ring.options.LeaseDuration)
}

// hasTable reports whether a table with this process's settings was seen. It counts even after
// somebody has deleted it: members work by it until they lose their Leases.
func (m *run) hasTable() bool {
	t := &m.view.table
	return t.settings == m.ring.settings && len(t.buckets) == len(m.member.claims)
}

// moveBuckets moves all buckets on.
func (m *run) moveBuckets(now time.Duration) {
	if !m.hasTable() {
		return
	}
	hub := m.ring.hub
	loaded := hub.Loaded()
	leave := m.mustGo(now)
	before := slices.Clone(m.member.claims)
	for b, e := range m.view.table.buckets {
		m.member.step(b, e, circumstances{loaded: loaded.Has(b), idle: m.isDrained(b, now), leave: leave})
	}
	after := m.member.claims
	changed := func(has func(from, to claim) bool) partition.Set {
		return partition.SetOf(len(after), func(b int) bool { return has(before[b], after[b]) })
	}
	stopped := changed(func(from, to claim) bool { return from.state == held && to != from })
	ended := changed(func(from, to claim) bool { return from.works() && (!to.works() || to.epoch != from.epoch) })
	for b := range stopped.All() {
		m.draining[b] = drain{since: now}
	}
	hub.Revoke(stopped)
	for b := range ended.All() {
		m.ring.gate.Shut(b, errHandedOver) // it was, unless the table went on without a release
		m.draining[b] = drain{}
		if e := m.view.table.buckets[b]; e.Owner == m.identity && e.Epoch == before[b].epoch || m.leaveAt > 0 {
			m.counts.released++
		} else {
			m.counts.evicted++
		}
	}
	granted := map[int]uint64{}
	for b, to := range after {
		if to.state == held && to != before[b] {
			m.ring.gate.Open(b, to.epoch)
			granted[b] = to.epoch
			m.counts.granted++
		}
	}
	hub.SetShare(m.view.share(m.identity, m.ring.options.Weight))
	hub.SetWanted(partition.SetOf(len(after), func(b int) bool { return after[b].state != away }))
	hub.Grant(granted)
}

// isDrained reports whether a draining bucket can be released: no reconcile of it runs, or those
// that run can send nothing any more. After Grace, isDrained ends their contexts and refuses their
// requests.
func (m *run) isDrained(bucket int, now time.Duration) bool {
	if m.member.claims[bucket].state != draining {
		return false
	}
	d := &m.draining[bucket]
	if d.shut == nil {
		running := 0
		for _, w := range m.ring.hub.Workers() {
			running += w.Running(bucket)
		}
		if running > 0 {
			if now-d.since < m.ring.options.Grace {
				return false
			}
			m.logger.Info("Reconciles have not ended within Grace after their bucket was revoked; their requests are refused from now on", "bucket", bucket, "reconciles", running)
			m.ring.hub.Cancel(partition.SetOf(bucket+1, func(b int) bool { return b == bucket }))
		}
		d.shut = m.ring.gate.Shut(bucket, errHandedOver)
	}
	select {
	case <-d.shut:
		return true
	default:
	}
	if !d.awaited {
		d.awaited = true
		shut := d.shut
		m.wg.Go(func() {
			select {
			case <-shut:
				m.poke()
			case <-m.term.Context().Done():
			}
		})
	}
	return false
}

// hasSuccessor reports whether another member may be granted buckets, now or soon.
func (m *run) hasSuccessor(now time.Duration) bool {
	for _, other := range m.view.members {
		alive := (other.state == active || other.state == joining) && now-other.at < other.duration
		if alive && other.identity != m.identity && other.settings == m.ring.settings {
			return true
		}
	}
	return false
}

// abandon gives everything up at once, at the end of the loop.
func (m *run) abandon() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	hub := m.ring.hub
	held := hub.Held()
	for b := range m.member.claims {
		if m.member.claims[b].works() {
			m.counts.evicted++
			m.member.release(b)
		}
		m.ring.gate.Shut(b, errEnded)
	}
	hub.Revoke(held)
	hub.Cancel(held)
	hub.SetWanted(partition.Set{})
}
