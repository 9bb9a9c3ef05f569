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

// pastTotals are totals of streams that were removed. Those of the informer never go down.
type pastTotals struct {
	relists, badData int64
	disk             diskTotals
}

// add adds the totals of a stream.
func (p *pastTotals) add(s *stream) {
	status := s.reader.Status()
	p.relists += status.Relists
	p.badData += status.BadData
	_, totals, _ := s.disk.status()
	p.disk.add(totals)
}

func (t *diskTotals) add(other diskTotals) {
	t.writes += other.writes
	t.bytes += other.bytes
	t.took += other.took
	t.failures += other.failures
	t.restored += other.restored
}

// pastTotals returns the totals of the streams that were removed, and the other streams.
func (i *Informer) pastTotals() (pastTotals, []*stream) {
	i.mu.Lock()
	defer i.mu.Unlock()
	past := i.past
	for _, s := range i.leaving {
		past.add(s)
	}
	return past, i.streams()
}

// measure returns the state of the informer for the metrics.
func (i *Informer) measure() metrics.InformerState {
	past, streams := i.pastTotals()
	version := i.table.Version()
	state := metrics.InformerState{
		Objects:         version.Len(),
		Synced:          i.HasSynced(),
		Watching:        len(streams) > 0,
		ResourceVersion: version.ResourceVersion(),
		Relists:         past.relists,
		BadData:         past.badData,
	}
	past.disk.addTo(&state.Checkpoint)
	for n, s := range streams {
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
	totals.addTo(state)
}

func (t diskTotals) addTo(state *metrics.CheckpointState) {
	state.Writes += t.writes
	state.Written += t.bytes
	state.WriteTime += t.took
	state.WriteFailures += t.failures
	state.Restored += t.restored
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
