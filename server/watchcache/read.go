// SPDX-License-Identifier: Apache-2.0

package watchcache

// batchEvents and batchBytes are the approximate limits of one batch.
const (
	batchEvents = 256
	batchBytes  = 64 << 10
)

// read appends a watcher's next events to events. It adds none, without an error, if the watcher
// has read everything. One goroutine at a time may call it.
func (w *Watcher) read(events []Event) ([]Event, error) {
	if ended := w.ended.Load(); ended != nil {
		return nil, *ended
	}
	at := w.at.Load()
	if at == nil {
		return nil, nil
	}
	b := batch{w: w, events: events}
	if w.pending == nil && at.behind {
		w.catchUp(at)
	}
	if w.pending != nil {
		b.pending()
	}
	if w.pending == nil && !b.full() {
		b.changes()
	}
	if len(b.events) == 0 && b.err == nil && w.marked.Load() {
		b.bookmark()
	}
	if b.err != nil {
		w.c.mu.Lock()
		defer w.c.unlock()
		w.c.endLocked(w, failed, b.err)
		return nil, *w.ended.Load()
	}
	return b.events, nil
}

// sleep puts watchers to sleep that have read everything. Nils are skipped.
func (c *Cache) sleep(watchers []*Watcher) {
	c.mu.Lock()
	defer c.unlock()
	for _, w := range watchers {
		switch {
		case w == nil || w.at.Load() == nil:
		case w.ended.Load() != nil || w.pending != nil || w.endAt != 0 || w.marked.Load() || w.at.Load().more():
			c.callLocked(w)
		default:
			w.at.Store(nil)
		}
	}
}

type batch struct {
	w      *Watcher
	events []Event
	bytes  int
	err    error
}

func (b *batch) full() bool {
	return b.err != nil || len(b.events) >= batchEvents || b.bytes >= batchBytes
}

// add adds an event, with its frame. made holds the change's shared frames; it may be nil.
func (b *batch) add(e Event, made *frames) {
	switch f := b.w.encoder; {
	case f == nil:
	case made != nil:
		e.Frame, b.err = made.of(f, e)
	default:
		e.Frame, b.err = f.encode(e)
	}
	if e.Object != nil {
		b.bytes += len(e.Object.Bytes)
	}
	b.events = append(b.events, e)
}

// bookmark adds the due bookmark, unless there is more to read, or the version hasn't changed since
// the watch began.
func (b *batch) bookmark() {
	if version, ok := b.w.unmark(); ok && version > b.w.began {
		b.add(Event{Type: bookmark, Version: version}, nil)
	}
}

// unmark returns the version up to which the watcher has read everything. ok is false if there is
// more to read, or the watcher has ended: then there may be more, in another log.
func (w *Watcher) unmark() (version uint64, ok bool) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if w.ended.Load() != nil || w.at.Load().more() {
		return 0, false
	}
	w.marked.Store(false)
	return w.c.version(), true
}

// pending adds the events that precede the log's: those missed by a slow watch, or initial events
// and their closing bookmark.
func (b *batch) pending() {
	p, f := b.w.pending, b.w.filter
	for len(p.missed) > 0 && !b.full() {
		b.add(p.missed[0], nil)
		p.missed = p.missed[1:]
	}
	done := len(p.missed) == 0
	p.state.from(f, p.from, func(o *Object) bool {
		if b.full() {
			p.from, done = o.Key, false
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
	if p.mark && b.err == nil {
		b.add(Event{Type: bookmark, Version: b.w.began, InitialEnd: true}, nil)
	}
	b.w.pending = nil
}

// changes adds the selected changes the watcher hasn't read. It adds nothing if the watcher is
// found to be too slow meanwhile.
func (b *batch) changes() {
	begin, before, endAt := b.w.at.Load(), *b, b.w.endAt
	at := begin
	for !b.full() && !begin.behind {
		n := at.next.Load()
		if end := b.w.endAt; end != 0 && (n == nil || n.version > end) {
			b.w.endAt = 0
			b.add(Event{Type: bookmark, Version: end, InitialEnd: true}, nil)
			continue
		}
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
		case e.Version < b.w.began: // found by a list newer than the watch's beginning
			e.Version = b.w.began
			b.add(e, nil)
		default:
			b.add(e, &n.frames)
		}
	}
	if at != begin && !b.w.at.CompareAndSwap(begin, at) {
		*b, b.w.endAt = before, endAt
	}
}
