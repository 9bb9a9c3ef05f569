// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
)

// publish joins the intake and the fan-out. In one step, it makes a transaction the table's current
// version, hands its changes to the handlers, and wakes waiting goroutines.
func (i *Informer) publish(p intake.Publication) (wait func(over <-chan struct{})) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range p.Added {
		s.SetAddedLater(i.begunLocked())
	}
	version := p.Commit()
	delivered := fanout.Publication{Version: version, Changes: p.Changes, Full: p.Full || !p.Lost.IsEmpty(), Initial: p.First && !p.Stream.AddedLater()}
	if p.Stream != nil {
		delivered.Namespace = p.Stream.Namespace()
		switch {
		case p.Removed && i.config.Ring != nil:
			i.waiters.drop(p.Stream, errLost)
		case p.Removed:
			i.waiters.drop(p.Stream, errRemoved)
		case !p.Lost.IsEmpty():
			i.waiters.lose(p, i.config.Ring)
			i.waiters.wake(p, version)
		default:
			i.waiters.wake(p, version)
		}
	}
	wait = i.fanout.Publish(delivered)
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
	if len(p.Added) > 0 && !i.config.EmptyBeforeSync {
		i.syncGuard.informer.Store(i)
	}
	if r := i.run; r != nil {
		for _, s := range p.Added {
			r.addUnsyncedLocked(s)
		}
		if p.Removed || p.Full && r.reading { // otherwise the previous run read the state
			r.syncedLocked(p.Stream)
			i.notifyLocked()
			r.tellFollower()
		}
	}
	if p.First || p.Removed {
		i.checkSyncedLocked() // after the replays are there
	}
	return wait
}

// begunLocked reports whether the informer has run, and knew its namespaces. Synced doesn't wait
// for streams added later.
func (i *Informer) begunLocked() bool { return i.ran && (!i.config.selects() || i.selected) }

// checkSyncedLocked closes synced if that is due. It is called when a stream has synced or was
// removed, when a run begins, and when the first selected namespaces are known.
func (i *Informer) checkSyncedLocked() {
	complete, synced := !i.config.selects() || i.selected, i.begunLocked()
	for _, s := range i.streams() {
		if !s.HasSynced() {
			complete, synced = false, synced && s.AddedLater()
		}
	}
	if complete {
		i.syncGuard.informer.Store(nil)
	}
	if synced && !i.HasSynced() {
		close(i.synced)
		i.fanout.NotifySynced()
	}
	i.notifyLocked()
}
