// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Totals counts listed objects and events, over all runs.
type Totals struct {
	Events [source.Bookmark + 1]atomic.Int64 // by type
	Listed atomic.Int64
}

// RemovedTotals has the totals of removed streams, so that the informer's never go down.
type RemovedTotals struct {
	Relists, BadData int64
	Disk             DiskTotals
}

func (t *RemovedTotals) add(s *Stream) {
	status := s.Status()
	t.Relists += status.Relists
	t.BadData += status.BadData
	_, totals, _ := s.disk.status()
	t.Disk.add(totals)
}

// listStats counts one list, of one page or more.
type listStats struct {
	start   time.Duration
	objects int
}

func (s *Stream) startPage(opts source.ListOptions) {
	if s.recorder != nil && opts.Continue == "" {
		s.listStats = listStats{start: s.intake.now()}
	}
}

func (s *Stream) countListed() {
	if s.recorder != nil {
		s.listStats.objects++
		s.intake.totals.Listed.Add(1)
	}
}

func (s *Stream) endList() {
	if s.recorder != nil {
		s.recorder.ListDone(s.intake.now()-s.listStats.start, s.listStats.objects)
	}
}

// watchStats counts one watch.
type watchStats struct {
	stream  *Stream
	initial bool // the watch-list's initial events have not ended
	open    bool // the watch is open, and past its initial events
	since   time.Duration
	events  int
}

func (s *Stream) startWatch(opts source.WatchOptions) watchStats {
	if s.recorder != nil && opts.SendInitialEvents {
		s.startPage(source.ListOptions{})
	}
	return watchStats{stream: s, initial: opts.SendInitialEvents}
}

func (w *watchStats) opened() {
	if w.stream.recorder != nil && !w.initial && !w.open {
		w.open, w.since = true, w.stream.intake.now()
	}
}

func (w *watchStats) count(e *source.Event[object.Object]) {
	switch {
	case w.stream.recorder == nil:
	case w.initial && e.InitialEventsEnd:
		w.stream.endList()
		w.initial = false
		w.opened()
	case w.initial:
		w.stream.countListed()
	default:
		w.opened()
		w.events++
		w.stream.intake.totals.Events[e.Type].Add(1)
	}
}

func (w *watchStats) end() {
	if w.open {
		w.stream.recorder.WatchDone(w.stream.intake.now()-w.since, w.events)
	}
}
