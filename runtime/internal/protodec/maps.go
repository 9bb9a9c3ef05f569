// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

type pendingMap struct {
	f        *field
	p        layout.Pointer
	first, n int // of entries
	depth    int // of the message with the map
}

// entry is an entry of a map, {1: key, 2: value}.
type entry struct {
	key  string
	text string // of a string value, or of one parsed from a string
	raw  []byte // of any other value, in the input
}

var entryType = layout.TypeOf(reflect.TypeFor[entry]())

// readMap reads a map of count entries. The map may have fewer, because a key may come twice.
func (d *Decoder) readMap(f *field, p layout.Pointer, in []byte, count int) bool {
	m := pendingMap{f: f, p: p, first: d.entries.Len(), depth: d.depth}
	for range count {
		start, end := delimited(in[tagLen(f.tag):])
		start, end = start+tagLen(f.tag), end+tagLen(f.tag)
		key, value, ok := splitEntry(in[start:end], wireTypes[f.kind])
		if !ok {
			return false
		}
		in = in[end:]
		if f.container == containerAnnotations && d.program.drop.Annotations[string(key)] {
			continue
		}
		m.n++
		e := layout.As[entry](d.entries.Push())
		d.string(f.keys, layout.Of(&e.key), key)
		switch f.kind {
		case kindString:
			d.string(f.text, layout.Of(&e.text), value)
		case kindQuantity:
			if value, ok = quantityText(value); !ok {
				return false
			}
			d.string(f.text, layout.Of(&e.text), value)
		default:
			e.raw = value
		}
	}
	if m.n > 0 {
		d.maps = append(d.maps, m)
	}
	return true
}

// fill makes a map after the strings of its entries are set.
func (d *Decoder) fill(u pendingMap) bool {
	switch u.f.kind {
	case kindString:
		m := make(map[string]string, u.n)
		for i := range u.n {
			e := d.entry(u, i)
			m[e.key] = e.text
		}
		*layout.As[map[string]string](u.p) = m
	case kindQuantity:
		m := make(map[string]resource.Quantity, u.n)
		for i := range u.n {
			var q resource.Quantity
			e := d.entry(u, i)
			if e.text != "" && !parseQuantity(&q, e.text) {
				return false
			}
			m[e.key] = q
		}
		*layout.As[map[string]resource.Quantity](u.p) = m
	default:
		return d.fillAny(u)
	}
	return true
}

func (d *Decoder) entry(u pendingMap, i int) *entry {
	return layout.As[entry](d.entries.At(u.first + i))
}

func (d *Decoder) fillAny(u pendingMap) bool {
	m := reflect.MakeMapWithSize(u.f.fieldType, u.n)
	key := reflect.New(u.f.fieldType.Key()).Elem()
	outer := d.depth
	d.depth = u.depth
	for i := range u.n {
		e := d.entry(u, i)
		value := u.f.valueType.New()
		inner := d.begin()
		ok := true
		switch {
		case wireTypes[u.f.kind] == 2:
			ok = d.delimitedValue(u.f, value, e.raw)
		case len(e.raw) > 0:
			_, ok = d.value(u.f, value, e.raw, 0)
		}
		if !ok || !d.end(inner) {
			return false
		}
		key.SetString(e.key)
		m.SetMapIndex(key, u.f.valueType.Value(value))
	}
	d.depth = outer
	reflect.NewAt(u.f.fieldType, u.p).Elem().Set(m)
	return true
}
