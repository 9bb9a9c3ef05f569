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
			if free := a.freeField(at); free != nil {
				a.readReference(free, layout.Of(&layout.As[layout.Interface](at).Data))
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
		f.of.typ.Make(p, 0)
		return
	}
	number := a.next
	part := &a.parts[number]
	raw := a.buf[part.start:part.end]
	before := &a.own[part.site]
	if before.end > 0 && before.start >= a.floor && string(a.buf[before.start:before.end]) == string(raw) {
		before.put(f, p)
		a.next = part.next
		return
	}
	if !part.long && a.finder.Try(part.site) {
		known, enter := a.finder.Find(part.site, raw)
		if known != nil {
			known.Put(p)
			a.next = part.next
			return
		}
		if enter { // the part may outlive this object, so it refers to nothing of it
			start, floor := a.mark(), a.floor
			a.floor = part.start
			a.copyOf(f, number, p)
			a.finish(start)
			a.floor = floor
			a.finder.Enter(part.site, raw, p)
			return
		}
	}
	a.copyOf(f, number, p)
	if before.end == 0 {
		a.ownSites = append(a.ownSites, part.site)
	}
	before.start, before.end = part.start, part.end
	before.keep(f, p)
}

func (a *Adopter) readScalar(f *field, p *layout.Pointer) {
	from := *p
	a.word = 0
	f.of.typ.Copy(layout.Of(&a.word), from)
	if *p = a.finder.Scalar(f.of.typ.Size(), a.word); *p == nil {
		*p = f.of.typ.New()
		f.of.typ.Copy(*p, from)
	}
}

func (a *Adopter) copyOf(f *field, number int, p layout.Pointer) {
	a.next = number + 1
	switch f.kind {
	case pointerField:
		from := *layout.As[layout.Pointer](p)
		to := f.of.typ.New()
		f.of.typ.Copy(to, from)
		*layout.As[layout.Pointer](p) = to
		a.read(f.of, to)
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
		part.made = *layout.As[layout.Pointer](p)
		for i := range part.n {
			e := &a.entries[part.entries+i]
			if f != &a.program.freeMap {
				a.readText(f.keys, layout.Of(&e.key))
			}
			a.read(f.of, e.value)
		}
		a.maps = append(a.maps, number)
	}
}

func (a *Adopter) copySlice(f *field, p layout.Pointer) {
	a.from = *layout.As[layout.Slice](p)
	f.of.typ.MakeCopy(p, &a.from)
	a.from = layout.Slice{}
	if f.of.plain {
		return
	}
	to := layout.As[layout.Slice](p)
	for i := range to.Len {
		a.read(f.of, layout.At(to.Data, uintptr(i)*f.of.typ.Size()))
	}
}

func (o *own) keep(f *field, p layout.Pointer) {
	if f.kind == sliceField {
		o.value = *layout.As[layout.Slice](p)
	} else {
		o.value.Data = *layout.As[layout.Pointer](p)
	}
}

func (o *own) put(f *field, p layout.Pointer) {
	if f.kind == sliceField {
		*layout.As[layout.Slice](p) = o.value
	} else {
		*layout.As[layout.Pointer](p) = o.value.Data
	}
}
