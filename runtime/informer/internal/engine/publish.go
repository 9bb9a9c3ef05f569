// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// publish makes the transaction the table's current version, appends its changes to the log, and
// wakes the goroutines that wait for them, in one step.
func (w *batchWriter) publish() {
	i := w.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	version := w.txn.Publish()
	w.wakeWaitersLocked(version, w.changes)
	w.logLocked(w.staging)
	if w.first {
		w.firstLocked(version)
	}
	if w.staging {
		w.run.syncedLocked(w.stream)
	}
}

// logLocked appends the changes of a version that was just published to the log, and wakes the
// goroutines that wait for them. full reports that they are the differences of a full state.
func (w *batchWriter) logLocked(full bool) {
	i := w.informer
	if len(w.changes) > 0 && len(i.subs) > 0 {
		w.publication = publication{at: i.now(), changes: int64(len(w.changes)), full: full}
		var kept bool
		if kept, w.laggards = i.pool.publish(&i.log, w.changes, w.publication.at, i.subs, w.laggards); kept {
			w.changes = nil
		}
	}
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
}

// firstLocked is called when the first full state of the stream is published. All subscriptions get
// it as a replay, if it was not logged.
func (w *batchWriter) firstLocked(version *table.Version) {
	i := w.informer
	close(w.synced)
	if w.replay {
		for _, sub := range i.subs {
			sub.mu.Lock()
			sub.startReplayLocked(replay{version, w.namespace, i.now()})
			sub.mu.Unlock()
		}
		i.pool.notify(i.subs...)
	}
	i.checkSyncedLocked() // after the replays are there
}

// checkSyncedLocked is called when a stream has synced or was removed, and when a run begins. It
// closes synced if that is due.
func (i *Informer) checkSyncedLocked() {
	complete, synced := true, i.ran
	for _, s := range i.streams() {
		if !s.HasSynced() {
			complete, synced = false, synced && s.late
		}
	}
	if complete {
		i.gap.informer.Store(nil)
	}
	if synced && !i.HasSynced() {
		close(i.synced)
		i.pool.notify(i.subs...)
	}
	i.notifyLocked()
}
