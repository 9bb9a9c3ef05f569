// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// maxPart is the size up to which parts are looked up in the table. A larger value may contain
// smaller parts.
const maxPart = 32 << 10

// decodeShared decodes a value that may be shared, or takes it from the table or from an earlier
// value of the same object. The end of its kind of value shows without a following byte.
func (d *Decoder) decodeShared(pl *plan, i int, p layout.Pointer) int {
	if !d.sharesParts {
		return d.decodeOwn(pl, i, p)
	}
	last := d.lastValues.get(pl.number)
	if last == nil {
		last = d.lastValues.set(pl.number, &lastValue{})
	}
	if size := last.end - last.start; size > 0 && last.start >= d.reuseFrom && size <= len(d.in)-i && string(d.in[i:i+size]) == string(d.in[last.start:last.end]) {
		last.put(pl, p)
		return i + size
	}
	end := -1
	if d.finder.ShouldTry(int(pl.site)) {
		end = valueEnd(d.in[:min(len(d.in), i+maxPart)], i)
	}
	if end >= 0 {
		part, enter := d.finder.Find(int(pl.site), d.in[i:end])
		if part != nil {
			part.Put(p)
			return end
		}
		if enter {
			return d.enter(pl, i, end, p)
		}
	}
	if end = d.decodeOwn(pl, i, p); end >= 0 {
		if last.end == 0 {
			d.usedValues = append(d.usedValues, last)
		}
		last.keep(pl, i, end, p)
	}
	return end
}

// enter decodes a value ending before in[end] for the table. The value may outlive this object, so
// its strings get a block of their own and it refers to no parts of the object.
func (d *Decoder) enter(pl *plan, i, end int, p layout.Pointer) int {
	mark, reuseFrom := d.mark(), d.reuseFrom
	d.reuseFrom = i
	if d.decodeOwn(pl, i, p) != end || !d.finish(mark) {
		return -1
	}
	d.reuseFrom = reuseFrom
	d.finder.Enter(int(pl.site), d.in[i:end], p)
	return end
}

// lastValue is the last value decoded by a plan in the present object.
type lastValue struct {
	start, end int // in the input; 0: there is no value
	value      layout.Slice
}

func (l *lastValue) keep(pl *plan, start, end int, p layout.Pointer) {
	l.start, l.end = start, end
	if pl.op == opSlice {
		l.value = *layout.As[layout.Slice](p)
	} else {
		l.value.Data = *layout.As[layout.Pointer](p)
	}
}

func (l *lastValue) put(pl *plan, p layout.Pointer) {
	if pl.op == opSlice {
		*layout.As[layout.Slice](p) = l.value
	} else {
		*layout.As[layout.Pointer](p) = l.value.Data
	}
}

func (d *Decoder) decodeOwn(pl *plan, i int, p layout.Pointer) int {
	switch pl.op {
	case opSlice:
		return d.slice(pl, i+1, p)
	case opMap:
		return d.mapOf(pl, i+1, p)
	default:
		return d.pointer(pl, i, p)
	}
}

func (d *Decoder) pointer(pl *plan, i int, p layout.Pointer) int {
	to := pl.elem.typ.New()
	*layout.As[layout.Pointer](p) = to
	return d.value(pl.elem, i, to)
}

func (d *Decoder) slice(pl *plan, i int, p layout.Pointer) int {
	in := d.in
	if i < len(in) && in[i] <= ' ' {
		i = skipSpace(in, i)
	}
	if i < len(in) && in[i] == ']' {
		pl.elem.typ.Make(p, 0)
		return i + 1
	}
	if d.depth++; d.depth > maxDepth {
		return -1
	}
	scratch := d.scratches.get(pl.scratch)
	if scratch == nil {
		scratch = d.scratches.set(pl.scratch, pl.elem.typ.NewScratch())
	}
	mark, text := scratch.Len(), d.text.Mark()
	for {
		i = d.value(pl.elem, i, scratch.Push())
		if i < 0 {
			return -1
		}
		var more bool
		if i, more = next(in, i, ']'); i < 0 {
			return -1
		}
		if !more {
			break
		}
	}
	scratch.Take(mark, p, &d.text, text)
	d.depth--
	return i
}

// array drops surplus elements. Missing ones are zero.
func (d *Decoder) array(pl *plan, i int, p layout.Pointer) int {
	in := d.in
	if i = skipSpace(in, i); i < len(in) && in[i] == ']' {
		return i + 1
	}
	if d.depth++; d.depth > maxDepth {
		return -1
	}
	for at := 0; ; at++ {
		if at < pl.length {
			i = d.value(pl.elem, i, layout.At(p, uintptr(at)*pl.elem.typ.Size()))
		} else {
			i = skip(in, i)
		}
		if i < 0 {
			return -1
		}
		var more bool
		if i, more = next(in, i, ']'); !more {
			d.depth--
			return i
		}
	}
}
