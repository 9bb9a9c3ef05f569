// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// list is one list, of one page or more.
type list struct {
	start   time.Duration
	objects int
}

func (s *stream) startPage(opts source.ListOptions) {
	if s.recorder != nil && opts.Continue == "" {
		s.list = list{start: s.informer.now()}
	}
}

func (s *stream) countListed() {
	if s.recorder != nil {
		s.list.objects++
		s.informer.totals.listed.Add(1)
	}
}

func (s *stream) endList() {
	if s.recorder != nil {
		s.recorder.ListDone(s.informer.now()-s.list.start, s.list.objects)
	}
}

// watched is one watch.
type watched struct {
	*stream
	initial bool // the initial events of a watch-list have not ended
	open    bool // the watch is open, and past its initial events
	since   time.Duration
	events  int
}

func (s *stream) startWatch(opts source.WatchOptions) watched {
	if s.recorder != nil && opts.SendInitialEvents {
		s.startPage(source.ListOptions{})
	}
	return watched{stream: s, initial: opts.SendInitialEvents}
}

func (w *watched) opened() {
	if w.recorder != nil && !w.initial && !w.open {
		w.open, w.since = true, w.informer.now()
	}
}

func (w *watched) count(e *source.Event[object.Object]) {
	switch {
	case w.recorder == nil:
	case w.initial && e.InitialEventsEnd:
		w.endList()
		w.initial = false
		w.opened()
	case w.initial:
		w.countListed()
	default:
		w.opened()
		w.events++
		w.informer.totals.events[e.Type].Add(1)
	}
}

func (w *watched) end() {
	if w.open {
		w.recorder.WatchDone(w.informer.now()-w.since, w.events)
	}
}
