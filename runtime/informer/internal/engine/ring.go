// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Modes of an informer with a ring.
const (
	modeNamespaces = "namespaces" // a stream for each namespace in a wanted bucket
	modeClient     = "client"     // streams of all objects; those of other buckets are dropped
	modeServer     = "server"     // the same, but the server sends no others
)

// RingLimits are numbers of namespaces in wanted buckets.
type RingLimits struct {
	Streams int // the most with which a run chooses a stream for each
	Asked   int // the most that a server is asked for in one request: some 30 kB for 400
}

// gainDelay is the time in which gains are collected, to list once for all of them.
const gainDelay = 20 * time.Millisecond

var errLost = errors.New("this process reads the object's bucket of the ring no more")

// ringState is what an informer with a ring does. Informer.mu guards it.
type ringState struct {
	mode           string // of the newest run; "" until it reads anything
	wanted, loaded partition.Set
}

// follower makes a run read the wanted buckets of Config.Ring.
type follower struct {
	// Set once at construction.
	informer  *Informer
	run       *run
	intakeRun *intake.Run
	hub       *partition.Hub
	lease     *Lease // of Config.Namespaces; nil without

	mode           string
	looked         bool // once
	wanted, loaded partition.Set
	names          *table.Version // of Config.Namespaces, as last looked at
	relist         *time.Timer    // nil: none is due
}

// retainWanted removes the objects of buckets lost since the last run, before a mode is chosen.
func (i *Informer) retainWanted(intakeRun *intake.Run) {
	wanted, namespaces := i.config.Ring.Wanted(), map[string]struct{}{}
	client := false
	for _, s := range i.streams() {
		client = client || s.IsPart()
		if s.IsPart() || wanted.Has(i.config.Ring.BucketOfKey(s.Namespace(), "")) {
			namespaces[s.Namespace()] = struct{}{}
		}
	}
	if client {
		i.intake.SetWanted(intakeRun, namespaces, wanted, i.namespacesToAskFor(wanted))
	} else {
		i.intake.SetNamespaces(intakeRun, namespaces)
	}
}

// followRing reads the wanted buckets until the run is over.
func (i *Informer) followRing(r *run, intakeRun *intake.Run) {
	f := &follower{informer: i, run: r, intakeRun: intakeRun, hub: i.config.Ring}
	switch {
	case i.config.Namespaces != nil:
		lease, err := i.config.Namespaces.Acquire(r.ctx)
		if err != nil {
			return // the run is over
		}
		defer func() { <-lease.Done() }()
		f.lease = lease
	case f.hub.By == partition.ByNamespace && i.config.Streams[0].Namespace != "":
		f.mode = modeNamespaces // those of the configuration
	default:
		f.mode = modeClient
	}
	defer func() {
		if f.relist != nil {
			f.relist.Stop()
		}
	}()
	for r.ctx.Err() == nil {
		f.follow()
	}
}

// follow takes one look, and waits until there may be something to do.
func (f *follower) follow() {
	ring, namespaces, namespacesEnded := f.hub.Changed(), (<-chan struct{})(nil), (<-chan struct{})(nil)
	if f.lease != nil {
		namespaces, namespacesEnded = f.informer.config.Namespaces.Changed(), f.lease.Done()
	}
	f.look()
	var relist <-chan time.Time
	if f.relist != nil {
		relist = f.relist.C
	}
	select {
	case <-ring:
	case <-namespaces:
	case <-f.run.ringNews:
	case <-relist:
		f.relist = nil
		f.informer.intake.Relist()
	case <-namespacesEnded:
		f.run.cancel(f.lease.cause)
	case <-f.run.ctx.Done():
	}
}

func (f *follower) look() {
	i, wanted := f.informer, f.hub.Wanted()
	f.setLoaded(wanted, f.loaded.And(wanted)) // before the objects are gone
	f.choose(wanted)
	changed := !f.looked || f.wanted != wanted
	names := f.namesVersion()
	changed = changed || names != f.names
	f.looked, f.wanted, f.names = f.looked || f.mode != "", wanted, names
	switch {
	case f.mode == modeClient:
		if changed {
			i.intake.SetWanted(f.intakeRun, i.configured(), wanted, i.namespacesToAskFor(wanted))
		}
		loaded, relist := i.intake.Loaded()
		if relist && f.relist == nil {
			f.relist = time.NewTimer(gainDelay)
		}
		i.setSelected(f.run)
		f.setLoaded(wanted, loaded.Or(f.loaded))
	case f.mode == modeNamespaces:
		if changed {
			i.intake.SetNamespaces(f.intakeRun, i.wantedNamespaces(wanted))
		}
		i.setSelected(f.run)
		f.setLoaded(wanted, wanted.Without(f.unread()).Or(f.loaded))
	default:
		i.retainWanted(f.intakeRun)
		if wanted.IsEmpty() {
			i.setSelected(f.run)
		}
	}
}

// choose chooses the mode, once there is something to read: by the namespaces in wanted buckets, or
// by those in as many buckets as will be wanted.
func (f *follower) choose(wanted partition.Set) {
	if f.mode != "" || wanted.IsEmpty() || !f.lease.HasSynced() {
		return
	}
	i := f.informer
	now, later := len(i.wantedNamespaces(wanted)), i.config.Namespaces.table.Version().Len()*f.hub.Share()/f.hub.Buckets
	f.mode = modeNamespaces
	if max(now, later) > i.config.RingLimits.Streams {
		f.mode = modeClient
	}
}

func (f *follower) setLoaded(wanted, loaded partition.Set) {
	f.loaded = loaded
	i := f.informer
	i.mu.Lock()
	i.ring = ringState{f.mode, wanted, loaded}
	i.mu.Unlock()
	f.run.joined.SetLoaded(loaded)
}

func (f *follower) namesVersion() *table.Version {
	if f.lease == nil {
		return nil
	}
	return f.informer.config.Namespaces.table.Version()
}

// wantedNamespaces returns the namespaces in wanted buckets.
func (i *Informer) wantedNamespaces(wanted partition.Set) map[string]struct{} {
	all := i.configured()
	if i.config.Namespaces != nil {
		all = i.config.Namespaces.names()
	}
	for name := range all {
		if !wanted.Has(i.config.Ring.BucketOfKey(name, "")) {
			delete(all, name)
		}
	}
	return all
}

// namespacesToAskFor returns the namespaces in wanted buckets, if a server may be asked for them
// instead of all, or nil.
func (i *Informer) namespacesToAskFor(wanted partition.Set) map[string]struct{} {
	if i.config.Namespaces == nil || wanted.Len() == i.config.Ring.Buckets {
		return nil
	}
	if all := i.wantedNamespaces(wanted); len(all) <= i.config.RingLimits.Asked {
		return all
	}
	return nil
}

// unread returns the buckets with a namespace that this run has not read yet.
func (f *follower) unread() partition.Set {
	unread := map[int]bool{}
	i := f.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	for s := range f.run.unsynced {
		if isAbsent(s) {
			continue
		}
		unread[f.hub.BucketOfKey(s.Namespace(), "")] = true
	}
	return partition.SetOf(f.hub.Buckets, func(b int) bool { return unread[b] })
}

// configured returns the namespaces of Config.Streams.
func (i *Informer) configured() map[string]struct{} {
	all := map[string]struct{}{}
	for _, s := range i.config.Streams {
		all[s.Namespace] = struct{}{}
	}
	return all
}

// checkHeldLocked returns an error if the key of an object shows that it is not read.
func (i *Informer) checkHeldLocked(key object.Key) error {
	if hub := i.config.Ring; hub != nil && keyTells(hub) && !i.ring.wanted.Has(hub.BucketOfKey(key.Namespace, key.Name)) {
		return errLost
	}
	return nil
}

// keyTells reports whether the key of an object tells its bucket.
func keyTells(hub *partition.Hub) bool {
	return hub.By == partition.ByNamespace || hub.By == partition.ByKey && len(hub.Roots) == 0
}

// lose ends the waits for objects of lost buckets, as far as their keys or the table show that.
func (ws *waiters) lose(p intake.Publication, hub *partition.Hub) {
	gone := map[object.Key]bool{}
	for n := range p.Changes {
		gone[p.Changes[n].Key()] = true
	}
	lost := func(w *waiter) bool {
		if !gone[w.key] && (!keyTells(hub) || w.key == object.Key{} || !p.Lost.Has(hub.BucketOfKey(w.key.Namespace, w.key.Name))) {
			return false
		}
		w.err = errLost
		w.notify()
		return true
	}
	if waiters := ws.versions[p.Stream]; len(waiters) > 0 {
		setWaiters(ws.versions, p.Stream, slices.DeleteFunc(waiters, lost))
	}
	for key := range ws.deletions {
		setWaiters(ws.deletions, key, slices.DeleteFunc(ws.deletions[key], lost))
	}
}

// RingStatus is the state of an informer's part of a ring.
type RingStatus struct {
	Mode                    string
	Buckets, Wanted, Loaded int
}

// Ring returns the state of the informer's part of the ring, or nil without a ring.
func (i *Informer) Ring() *RingStatus {
	if i.config.Ring == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return &RingStatus{i.ringModeLocked(), i.config.Ring.Buckets, i.ring.wanted.Len(), i.ring.loaded.Len()}
}

func (i *Informer) ringMode() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ringModeLocked()
}

func (i *Informer) ringModeLocked() string {
	if streams := i.streams(); i.ring.mode == modeClient && len(streams) > 0 && !slices.ContainsFunc(streams, func(s *intake.Stream) bool { return !s.IsSharded() }) {
		return modeServer
	}
	return i.ring.mode
}
