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
	at := w.position.Load()
	if at == nil {
		return nil, nil
	}
	b := batch{w: w, events: events}
	if w.pending == nil && at.detached {
		w.catchUp(at)
	}
	if w.pending != nil {
		b.addPending()
	}
	if w.pending == nil && !b.isFull() {
		b.addChanges()
	}
	if len(b.events) == 0 && b.err == nil && w.bookmarkDue.Load() {
		b.addBookmark()
	}
	if b.err != nil {
		w.c.mu.Lock()
		defer w.c.unlock()
		w.c.endLocked(w, endFailed, b.err)
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
		case w == nil || w.position.Load() == nil:
		case w.ended.Load() != nil || w.pending != nil || w.initialEnd != 0 || w.bookmarkDue.Load() || w.position.Load().hasNext():
			c.signalLocked(w)
		default:
			w.position.Store(nil)
		}
	}
}

type batch struct {
	w      *Watcher
	events []Event
	bytes  int
	err    error
}

func (b *batch) isFull() bool {
	return b.err != nil || len(b.events) >= batchEvents || b.bytes >= batchBytes
}

// add adds an event, with its frame. shared holds the change's frames; it may be nil.
func (b *batch) add(e Event, shared *frames) {
	switch f := b.w.encoder; {
	case f == nil:
	case shared != nil:
		e.Frame, b.err = shared.get(f, e)
	default:
		e.Frame, b.err = f.encode(e)
	}
	if e.Object != nil {
		b.bytes += len(e.Object.Bytes)
	}
	b.events = append(b.events, e)
}

// addBookmark adds the due bookmark, unless there is more to read, or the version hasn't changed
// since the watch began.
func (b *batch) addBookmark() {
	if version, ok := b.w.takeBookmark(); ok && version > b.w.startVersion {
		b.add(Event{Type: bookmark, Version: version}, nil)
	}
}

// takeBookmark returns the version up to which the watcher has read everything. ok is false if
// there is more to read, or the watcher has ended: then there may be more, in another log.
func (w *Watcher) takeBookmark() (version uint64, ok bool) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if w.ended.Load() != nil || w.position.Load().hasNext() {
		return 0, false
	}
	w.bookmarkDue.Store(false)
	return w.c.version(), true
}

// addPending adds the events that precede the log's: those missed by a slow watch, or initial
// events and their closing bookmark.
func (b *batch) addPending() {
	p, f := b.w.pending, b.w.filter
	for len(p.missed) > 0 && !b.isFull() {
		b.add(p.missed[0], nil)
		p.missed = p.missed[1:]
	}
	done := len(p.missed) == 0
	p.state.scan(f, p.from, func(o *Object) bool {
		if b.isFull() {
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
	if p.closingBookmark && b.err == nil {
		b.add(Event{Type: bookmark, Version: b.w.startVersion, InitialEnd: true}, nil)
	}
	b.w.pending = nil
}

// addChanges adds the selected changes the watcher hasn't read. It adds nothing if the watcher is
// found to be too slow meanwhile.
func (b *batch) addChanges() {
	start, before, endAt := b.w.position.Load(), *b, b.w.initialEnd
	at := start
	for !b.isFull() && !start.detached {
		n := at.next.Load()
		if end := b.w.initialEnd; end != 0 && (n == nil || n.version > end) {
			b.w.initialEnd = 0
			b.add(Event{Type: bookmark, Version: end, InitialEnd: true}, nil)
			continue
		}
		if n == nil {
			break
		}
		at = n
		if n.version <= b.w.startVersion {
			continue
		}
		e, ok := n.event(b.w.filter)
		switch {
		case !ok:
		case e.Version < b.w.startVersion: // found by a list newer than the watch's beginning
			e.Version = b.w.startVersion
			b.add(e, nil)
		default:
			b.add(e, &n.frames)
		}
	}
	if at != start && !b.w.position.CompareAndSwap(start, at) {
		*b, b.w.initialEnd = before, endAt
	}
}
