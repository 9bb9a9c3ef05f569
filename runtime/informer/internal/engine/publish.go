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
	if len(w.changes) > 0 && len(i.subs) > 0 {
		w.publication = publication{at: i.now(), changes: int64(len(w.changes)), full: w.staging}
		var kept bool
		if kept, w.laggards = i.pool.publish(&i.log, w.changes, w.publication.at, i.subs, w.laggards); kept {
			w.changes = nil
		}
	}
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
	if w.first {
		i.firstLocked(w.stream, version)
	}
	if w.staging {
		w.run.syncedLocked(w.stream)
	}
}

// firstLocked is called when the first full state of a stream is published. All subscriptions get
// it as a replay.
func (i *Informer) firstLocked(s *stream, version *table.Version) {
	close(s.synced)
	done := true
	for _, other := range i.streams {
		done = done && other.HasSynced()
	}
	for _, sub := range i.subs {
		sub.mu.Lock()
		sub.startReplayLocked(replay{version, s.namespace, i.now()})
		sub.mu.Unlock()
	}
	if done {
		close(i.synced) // after the replays are there
		i.gap.informer.Store(nil)
		i.notifyLocked()
	}
	i.pool.notify(i.subs...)
}
