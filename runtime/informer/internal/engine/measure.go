// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func (i *Informer) measure() metrics.InformerState {
	removed, streams := i.intake.RemovedTotals()
	version := i.table.Version()
	totals := i.intake.Totals()
	state := metrics.InformerState{
		Objects:         version.Len(),
		Synced:          i.HasSynced() || i.waitsForResource(),
		Watching:        len(streams) > 0 || i.config.selects() && i.HasSynced(),
		ResourceVersion: version.ResourceVersion(),
		Queued:          i.intake.Queued(),
		Relists:         removed.Relists,
		BadData:         removed.BadData,
		Listed:          totals.Listed.Load(),
		Events: metrics.EventTotals{
			Added:    totals.Events[source.Added].Load(),
			Modified: totals.Events[source.Modified].Load(),
			Deleted:  totals.Events[source.Deleted].Load(),
			Bookmark: totals.Events[source.Bookmark].Load(),
		},
	}
	addDisk(&state.Checkpoint, removed.Disk)
	for n, s := range streams {
		status := s.Status()
		absent := status.State == reflector.StateAbsent && status.Reason == reason.None
		state.Watching = state.Watching && (status.State == reflector.StateWatching || absent)
		if status.Reason != reason.None {
			state.Failures = max(state.Failures, status.Attempts)
		}
		if n == 0 || status.LastEvent.Before(state.LastEvent) {
			state.LastEvent = status.LastEvent
		}
		if n == 0 || status.LastBookmark.Before(state.LastBookmark) {
			state.LastBookmark = status.LastBookmark
		}
		state.Relists += status.Relists
		state.BadData += status.BadData
		if s.HasCheckpoint() {
			saved, totals, err := s.Disk()
			state.Checkpoint.Kept = true
			state.Checkpoint.Failing = state.Checkpoint.Failing || err != nil
			if n == 0 || saved.Saved.Before(state.Checkpoint.Saved) {
				state.Checkpoint.Saved = saved.Saved
			}
			state.Checkpoint.Bytes += saved.Bytes
			addDisk(&state.Checkpoint, totals)
		}
	}
	return state
}

func addDisk(state *metrics.CheckpointState, t intake.DiskTotals) {
	state.Writes += t.Writes
	state.Written += t.Bytes
	state.WriteTime += t.Took
	state.WriteFailures += t.Failures
	state.Restored += t.Restored
}
