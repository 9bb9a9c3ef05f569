// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// maps holds the maps of the present object. They are filled at its end, when the strings of their
// keys and values are set.
type maps struct {
	pending []pendingMap
	entries []scratchEntry
}

type pendingMap struct {
	plan      *plan
	m         layout.Pointer // the map itself: one word
	n         int            // entries
	lastEntry int            // the last one, in entries

	keys, values int // lengths of the scratches before the map
}

type scratchEntry struct {
	key, value layout.Pointer
	prev       int // the entry of the map before it
}

type mapScratch struct{ keys, values *layout.Scratch }

type mark struct {
	text             layout.TextMark
	pending, entries int
}

func (d *Decoder) mark() mark {
	return mark{d.text.Mark(), len(d.maps.pending), len(d.maps.entries)}
}

// finish sets the strings decoded since the mark, in one block, and fills the maps. It returns
// false if a map has a key twice.
func (d *Decoder) finish(since mark) bool {
	d.text.Set(since.text)
	ok, pending := true, d.maps.pending[since.pending:]
	for i := range pending {
		ok = d.fill(&pending[i]) && ok
	}
	for _, u := range pending {
		scratch := d.mapScratches.get(u.plan.scratch)
		scratch.keys.Drop(min(u.keys, scratch.keys.Len()))
		scratch.values.Drop(min(u.values, scratch.values.Len()))
	}
	clear(pending)
	clear(d.maps.entries[since.entries:])
	d.maps.pending, d.maps.entries = d.maps.pending[:since.pending], d.maps.entries[:since.entries]
	return ok
}

func (d *Decoder) fill(u *pendingMap) bool {
	pl := u.plan
	if pl.key.op == opString && pl.elem.op == opString {
		m := *layout.As[map[string]string](layout.Of(&u.m))
		for at, left := u.lastEntry, u.n; left > 0; left-- {
			e := &d.maps.entries[at]
			m[*layout.As[string](e.key)] = *layout.As[string](e.value)
			at = e.prev
		}
		return len(m) == u.n
	}
	m := pl.typ.Value(layout.Of(&u.m))
	for at, left := u.lastEntry, u.n; left > 0; left-- {
		e := &d.maps.entries[at]
		m.SetMapIndex(pl.key.typ.Value(e.key), pl.elem.typ.Value(e.value))
		at = e.prev
	}
	return m.Len() == u.n
}

func (d *Decoder) mapOf(pl *plan, i int, p layout.Pointer) int {
	in := d.in
	if i < len(in) && in[i] <= ' ' {
		i = skipSpace(in, i)
	}
	if i < len(in) && in[i] == '}' {
		d.makeMap(pl, 0, p)
		return i + 1
	}
	if d.depth++; d.depth > maxDepth {
		return -1
	}
	scratch := d.mapScratches.get(pl.scratch)
	if scratch == nil {
		scratch = d.mapScratches.set(pl.scratch, &mapScratch{pl.key.typ.NewScratch(), pl.elem.typ.NewScratch()})
	}
	u := pendingMap{plan: pl, keys: scratch.keys.Len(), values: scratch.values.Len()}
	for more := true; more; {
		if i < len(in) && in[i] <= ' ' {
			i = skipSpace(in, i)
		}
		if i >= len(in) || in[i] != '"' {
			return -1
		}
		if pl.drop != nil && d.dropped(pl, i) {
			if i = skipName(in, i); i >= 0 {
				i = skip(in, i)
			}
		} else {
			e := scratchEntry{scratch.keys.Push(), scratch.values.Push(), u.lastEntry}
			if i = d.mapEntry(pl, i, e); i >= 0 {
				u.lastEntry, u.n = len(d.maps.entries), u.n+1
				d.maps.entries = append(d.maps.entries, e)
			}
		}
		if i < 0 {
			return -1
		}
		if i, more = next(in, i, '}'); i < 0 {
			return -1
		}
	}
	d.depth--
	if u.n > 0 { // else all entries were dropped
		u.m = d.makeMap(pl, u.n, p)
		d.maps.pending = append(d.maps.pending, u)
	}
	return i
}

func (d *Decoder) dropped(pl *plan, i int) bool {
	key, end := d.plainText(i + 1)
	return end >= 0 && pl.drop[string(key)]
}

func (d *Decoder) makeMap(pl *plan, size int, p layout.Pointer) layout.Pointer {
	if pl.key.op == opString && pl.elem.op == opString {
		*layout.As[map[string]string](p) = make(map[string]string, size)
	} else {
		pl.typ.Value(p).Set(reflect.MakeMapWithSize(pl.typ.Reflect(), size))
	}
	return *layout.As[layout.Pointer](p)
}

func (d *Decoder) mapEntry(pl *plan, i int, e scratchEntry) int {
	in := d.in
	if i = d.mapKey(pl.key, i+1, e.key); i < 0 {
		return -1
	}
	if i < len(in) && in[i] <= ' ' {
		i = skipSpace(in, i)
	}
	if i >= len(in) || in[i] != ':' {
		return -1
	}
	return d.value(pl.elem, i+1, e.value)
}

func (d *Decoder) mapKey(pl *plan, i int, p layout.Pointer) int {
	switch pl.op {
	case opString:
		return d.string(pl, i, p)
	case opTextUnmarshaler:
		return d.textUnmarshaler(pl, i-1, p)
	}
	end := d.integer(pl.op, i, p)
	if end < 0 || end >= len(d.in) || d.in[end] != '"' {
		return -1
	}
	return end + 1
}
