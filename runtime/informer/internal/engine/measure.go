// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// totals counts what the source has brought, over all runs.
type totals struct {
	events [source.Bookmark + 1]atomic.Int64 // by type
	listed atomic.Int64
}

// measure returns the state of the informer for the metrics.
func (i *Informer) measure() metrics.InformerState {
	version := i.table.Version()
	state := metrics.InformerState{
		Objects:         version.Len(),
		Synced:          i.HasSynced(),
		Watching:        len(i.streams()) > 0,
		ResourceVersion: version.ResourceVersion(),
	}
	for n, s := range i.streams() {
		status := s.reader.Status()
		state.Watching = state.Watching && status.State == reflector.StateWatching
		if status.Reason != reason.None {
			state.Failures = max(state.Failures, status.Attempts)
		}
		if n == 0 || status.LastEvent.Before(state.LastEvent) {
			state.LastEvent = status.LastEvent
		}
		if n == 0 || status.LastBookmark.Before(state.LastBookmark) {
			state.LastBookmark = status.LastBookmark
		}
		state.Queued += int(s.stagedLen.Load())
		state.Relists += status.Relists
		state.BadData += status.BadData
		s.disk.measure(&state.Checkpoint, n == 0)
	}
	if t := i.totals; t != nil {
		state.Listed = t.listed.Load()
		state.Events = metrics.EventTotals{
			Added:    t.events[source.Added].Load(),
			Modified: t.events[source.Modified].Load(),
			Deleted:  t.events[source.Deleted].Load(),
			Bookmark: t.events[source.Bookmark].Load(),
		}
	}
	for _, queue := range i.queues() {
		state.Queued += queue.Len()
	}
	return state
}

// measure adds what a stream, which may be the first one, has on disk.
func (d *disk) measure(state *metrics.CheckpointState, first bool) {
	if d == nil {
		return
	}
	saved, totals, err := d.status()
	state.Kept = true
	state.Failing = state.Failing || err != nil
	if first || saved.Saved.Before(state.Saved) {
		state.Saved = saved.Saved
	}
	state.Bytes += saved.Bytes
	state.Writes += totals.writes
	state.Written += totals.bytes
	state.WriteTime += totals.took
	state.WriteFailures += totals.failures
	state.Restored += totals.restored
}

func (i *Informer) queues() []fifo {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.run == nil {
		return nil
	}
	return i.run.queues
}

// measure returns the state of the handler for the metrics.
func (s *Subscription) measure() metrics.HandlerState {
	status := s.Status()
	return metrics.HandlerState{
		Synced: status.Synced, Backlog: status.Backlog, Merging: status.Merging,
		WaitingSince: status.WaitingSince, CallbackSince: status.Since,
	}
}
