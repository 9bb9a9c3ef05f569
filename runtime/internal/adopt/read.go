// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"strings"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// read replaces the memory behind the value at p by copies or by shared parts. The value is a raw
// copy of the written one.
func (a *Adopter) read(s *shape, p layout.Pointer) {
	for i := range s.fields {
		f := &s.fields[i]
		if f.kind == memoryField {
			continue
		}
		at := layout.At(p, f.offset)
		switch f.kind {
		case nameField:
		case stringField:
			a.readText(f.site, at)
		case anyField:
			if untyped := a.untypedField(at); untyped != nil {
				a.readReference(untyped, layout.Of(&layout.As[layout.Interface](at).Data))
			} else if text, ok := (*layout.As[any](at)).(string); ok && len(text) > layout.MaxShort {
				*layout.As[any](at) = strings.Clone(text)
			}
		default:
			if *layout.As[layout.Pointer](at) != nil {
				a.readReference(f, at)
			}
		}
	}
}

// readText copies a string, so that it keeps nothing of the original object alive. A long one has
// memory of its own already, unless the transform has cut it out of a longer one, without a trace.
func (a *Adopter) readText(site int, p layout.Pointer) {
	s := *layout.As[string](p)
	switch {
	case len(s) == 0:
		return
	case len(s) > layout.MaxShort:
		*layout.As[string](p) = strings.Clone(s)
		return
	}
	b := layout.Bytes(*layout.As[layout.Pointer](p), uintptr(len(s)))
	if known, ok := a.finder.String(site, b); ok {
		*layout.As[string](p) = known
	} else {
		a.text.Add(p, b)
	}
}

func (a *Adopter) readReference(f *field, p layout.Pointer) {
	switch {
	case f.kind == scalarField:
		a.readScalar(f, layout.As[layout.Pointer](p))
		return
	case f.kind == sliceField && layout.As[layout.Slice](p).Len == 0:
		f.elem.typ.Make(p, 0)
		return
	}
	number := a.nextPart
	part := &a.parts[number]
	raw := a.buf[part.start:part.end]
	last := &a.lastCopies[part.site]
	if last.end > 0 && last.start >= a.reuseFrom && string(a.buf[last.start:last.end]) == string(raw) {
		last.put(f, p)
		a.nextPart = part.next
		return
	}
	if !part.hasLongString && a.finder.ShouldTry(part.site) {
		known, enter := a.finder.Find(part.site, raw)
		if known != nil {
			known.Put(p)
			a.nextPart = part.next
			return
		}
		if enter { // the part may outlive this object, so it refers to nothing of it
			start, reuseFrom := a.mark(), a.reuseFrom
			a.reuseFrom = part.start
			a.copyOf(f, number, p)
			a.finish(start)
			a.reuseFrom = reuseFrom
			a.finder.Enter(part.site, raw, p)
			return
		}
	}
	a.copyOf(f, number, p)
	if last.end == 0 {
		a.copiedSites = append(a.copiedSites, part.site)
	}
	last.start, last.end = part.start, part.end
	last.keep(f, p)
}

func (a *Adopter) readScalar(f *field, p *layout.Pointer) {
	from := *p
	a.word = 0
	f.elem.typ.Copy(layout.Of(&a.word), from)
	if *p = a.finder.Scalar(f.elem.typ.Size(), a.word); *p == nil {
		*p = f.elem.typ.New()
		f.elem.typ.Copy(*p, from)
	}
}

func (a *Adopter) copyOf(f *field, number int, p layout.Pointer) {
	a.nextPart = number + 1
	switch f.kind {
	case pointerField:
		from := *layout.As[layout.Pointer](p)
		to := f.elem.typ.New()
		f.elem.typ.Copy(to, from)
		*layout.As[layout.Pointer](p) = to
		a.read(f.elem, to)
	case sliceField:
		a.copySlice(f, p)
	case boxField:
		from := *layout.As[layout.Pointer](p)
		to := f.typ.New()
		*layout.As[layout.Slice](to) = *layout.As[layout.Slice](from)
		*layout.As[layout.Pointer](p) = to
		a.copySlice(f, to)
	case mapField:
		part := &a.parts[number]
		makeMap(f, part.n, p)
		part.newMap = *layout.As[layout.Pointer](p)
		for i := range part.n {
			e := &a.entries[part.entries+i]
			if f != &a.program.untypedMap {
				a.readText(f.keys, layout.Of(&e.key))
			}
			a.read(f.elem, e.value)
		}
		a.maps = append(a.maps, number)
	}
}

func (a *Adopter) copySlice(f *field, p layout.Pointer) {
	a.from = *layout.As[layout.Slice](p)
	f.elem.typ.MakeCopy(p, &a.from)
	a.from = layout.Slice{}
	if f.elem.plain {
		return
	}
	to := layout.As[layout.Slice](p)
	for i := range to.Len {
		a.read(f.elem, layout.At(to.Data, uintptr(i)*f.elem.typ.Size()))
	}
}

func (o *lastCopy) keep(f *field, p layout.Pointer) {
	if f.kind == sliceField {
		o.value = *layout.As[layout.Slice](p)
	} else {
		o.value.Data = *layout.As[layout.Pointer](p)
	}
}

func (o *lastCopy) put(f *field, p layout.Pointer) {
	if f.kind == sliceField {
		*layout.As[layout.Slice](p) = o.value
	} else {
		*layout.As[layout.Pointer](p) = o.value.Data
	}
}
