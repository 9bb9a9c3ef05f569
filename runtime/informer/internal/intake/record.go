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

// Past has the totals of removed streams, so that the informer's never go down.
type Past struct {
	Relists, BadData int64
	Disk             DiskTotals
}

func (p *Past) add(s *Stream) {
	status := s.Status()
	p.Relists += status.Relists
	p.BadData += status.BadData
	_, totals, _ := s.disk.status()
	p.Disk.add(totals)
}

// list is one list, of one page or more.
type list struct {
	start   time.Duration
	objects int
}

func (s *Stream) startPage(opts source.ListOptions) {
	if s.recorder != nil && opts.Continue == "" {
		s.list = list{start: s.intake.now()}
	}
}

func (s *Stream) countListed() {
	if s.recorder != nil {
		s.list.objects++
		s.intake.totals.Listed.Add(1)
	}
}

func (s *Stream) endList() {
	if s.recorder != nil {
		s.recorder.ListDone(s.intake.now()-s.list.start, s.list.objects)
	}
}

type watched struct {
	stream  *Stream
	initial bool // the watch-list's initial events have not ended
	open    bool // the watch is open, and past its initial events
	since   time.Duration
	events  int
}

func (s *Stream) startWatch(opts source.WatchOptions) watched {
	if s.recorder != nil && opts.SendInitialEvents {
		s.startPage(source.ListOptions{})
	}
	return watched{stream: s, initial: opts.SendInitialEvents}
}

func (w *watched) opened() {
	if w.stream.recorder != nil && !w.initial && !w.open {
		w.open, w.since = true, w.stream.intake.now()
	}
}

func (w *watched) count(e *source.Event[object.Object]) {
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

func (w *watched) end() {
	if w.open {
		w.stream.recorder.WatchDone(w.stream.intake.now()-w.since, w.events)
	}
}
