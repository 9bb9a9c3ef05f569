// SPDX-License-Identifier: Apache-2.0

package watchcache

// batchEvents and batchBytes are how much a watcher gets at once, about.
const (
	batchEvents = 256
	batchBytes  = 64 << 10
)

// read appends the next events of a watcher to events, and returns them. It returns none, and no
// error, if the watcher is asleep: there is nothing to read until something wakes it. One goroutine
// at a time may call it.
func (w *Watcher) read(events []Event) ([]Event, error) {
	for {
		if ended := w.ended.Load(); ended != nil {
			return nil, *ended
		}
		at := w.at.Load()
		if at == nil {
			return nil, nil
		}
		b := batch{w: w, events: events}
		if w.initial != nil {
			b.initial()
		} else {
			b.changes(at)
		}
		asleep := len(b.events) == 0 && b.err == nil && w.sleep(&b)
		if b.err != nil {
			w.fail(b.err)
			continue
		}
		if asleep || len(b.events) > 0 {
			return b.events, nil
		}
	}
}

// fail ends a watcher with an error of its own.
func (w *Watcher) fail(err error) {
	w.c.mu.Lock()
	defer w.c.unlock()
	w.c.endLocked(w, err)
}

// sleep puts the watcher to sleep and returns true, unless there is something to read. If a
// bookmark is due, that is what there is, and sleep adds it to b.
func (w *Watcher) sleep(b *batch) bool {
	version, asleep := w.trySleep()
	if version > w.began {
		b.add(Event{Type: bookmark, Version: version}, nil)
	}
	return asleep
}

// trySleep is sleep, but returns the version of the bookmark, if one is due.
func (w *Watcher) trySleep() (version uint64, asleep bool) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if w.ended.Load() != nil || w.initial != nil || w.at.Load().next.Load() != nil {
		return 0, false
	}
	if w.marked {
		w.marked = false
		return w.c.version(), false
	}
	w.at.Store(nil)
	return 0, true
}

// batch is events that a watcher gets at once.
type batch struct {
	w      *Watcher
	events []Event
	bytes  int
	err    error
}

// full reports whether the watcher gets the events before there are more, because there are enough
// or because of an error.
func (b *batch) full() bool {
	return b.err != nil || len(b.events) >= batchEvents || b.bytes >= batchBytes
}

// add adds an event, with its frame. made has the frames that were made already, or is nil.
func (b *batch) add(e Event, made *frames) {
	switch f := b.w.format; {
	case f == nil:
	case made != nil:
		e.Frame, b.err = made.of(f, e)
	default:
		e.Frame, b.err = encode(f, e)
	}
	if e.Object != nil {
		b.bytes += len(e.Object.Bytes)
	}
	b.events = append(b.events, e)
}

// initial adds initial events, and the bookmark behind the last one.
func (b *batch) initial() {
	in, f := b.w.initial, b.w.filter
	_, to := f.bounds()
	done := true
	in.state.from(in.from, func(o *Object) bool {
		if to != "" && o.Key >= to {
			return false
		}
		if b.full() {
			in.from, done = o.Key, false
			return false
		}
		if f.matches(o) {
			b.add(Event{Type: added, Object: o, Version: o.Version}, nil)
		}
		return true
	})
	if !done {
		return
	}
	if in.mark && b.err == nil {
		b.add(Event{Type: bookmark, Version: b.w.began, InitialEnd: true}, nil)
	}
	b.w.initial = nil
}

// changes adds what is selected of the changes behind at.
func (b *batch) changes(at *change) {
	for !b.full() {
		n := at.next.Load()
		if n == nil {
			break
		}
		at = n
		if n.version <= b.w.began {
			continue
		}
		e, ok := n.event(b.w.filter)
		switch {
		case !ok:
		case e.Version < b.w.began: // it was found by a list that has passed the watch's beginning
			e.Version = b.w.began
			b.add(e, nil)
		default:
			b.add(e, &n.frames)
		}
	}
	b.w.at.Store(at)
}
