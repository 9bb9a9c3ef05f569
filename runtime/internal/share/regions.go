// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"
	"reflect"
	"slices"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// regions is all memory of a part, as blocks and maps. A block is read as raw bytes, with the
// pointers and string headers in it. The target of a pointer is a block of its own, and strings
// can't change, so equal bytes are equal values. Reading regions again follows no pointer in them:
// even if a program has changed the part, only memory of the part is read.
type regions struct {
	blocks []block
	maps   []mapRegion
	size   int // bytes of all of it, with an estimate for maps
}

type block struct {
	at layout.Pointer
	n  uintptr // bytes
}

// mapRegion is a map, which only Go's runtime can read.
type mapRegion struct {
	m     layout.Pointer // the map itself: one word
	n     int            // entries
	shape *mapShape
}

type collector struct {
	regions
	limit int // of size
}

// collect returns the regions of the value at p, which is a pointer, a slice or a map, and false if
// they take more than limit bytes.
func (c *collector) collect(r *ref, p layout.Pointer, limit int) (m regions, ok bool) {
	c.limit = limit
	if ok = c.follow(r, p) && c.size <= limit; ok {
		m = regions{slices.Clone(c.blocks), slices.Clone(c.maps), c.size}
	}
	clear(c.blocks)
	clear(c.maps)
	c.regions = regions{blocks: c.blocks[:0], maps: c.maps[:0]}
	if cap(c.blocks)+cap(c.maps) > maxKeptBlocks {
		c.regions = regions{}
	}
	return m, ok
}

// maxKeptBlocks is the largest number of blocks and maps whose slices are reused.
const maxKeptBlocks = 1 << 10

func (c *collector) follow(r *ref, p layout.Pointer) bool {
	switch r.kind {
	case reflect.Pointer:
		to := *layout.As[layout.Pointer](p)
		return to == nil || c.block(r.elem, to, 1, 1)
	case reflect.Slice:
		s := layout.As[layout.Slice](p)
		return c.block(r.elem, s.Data, s.Len, s.Cap)
	case reflect.Map:
		return c.mapAt(r.mapOf, p)
	default:
		return c.boxed(r.typ.Value(p).Elem())
	}
}

// block adds n consecutive values. room is the capacity of their array.
func (c *collector) block(s *shape, p layout.Pointer, n, room int) bool {
	if c.size += blockSize; s.size > 0 && room > (c.limit-c.size)/int(s.size) {
		c.size = c.limit + 1
	}
	if c.size += room * int(s.size); c.size > c.limit {
		return false
	}
	if s.pieces == nil {
		if n > 0 && s.size > 0 {
			c.blocks = append(c.blocks, block{p, uintptr(n) * s.size})
		}
		if len(s.refs) == 0 {
			return true
		}
	}
	for i := range n {
		if i > 0 {
			p = layout.At(p, s.size)
		}
		for _, piece := range s.pieces {
			c.blocks = append(c.blocks, block{layout.At(p, piece.from), piece.to - piece.from})
		}
		for i := range s.refs {
			if !c.follow(&s.refs[i], layout.At(p, s.refs[i].offset)) {
				return false
			}
		}
	}
	return true
}

func (c *collector) mapAt(s *mapShape, p layout.Pointer) bool {
	n := mapLen(p)
	if *layout.As[layout.Pointer](p) == nil {
		return true
	}
	if c.size += s.bytes(n); c.size > c.limit {
		return false
	}
	c.maps = append(c.maps, mapRegion{*layout.As[layout.Pointer](p), n, s})
	if len(s.value.refs) == 0 {
		return true
	}
	value := reflect.New(s.value.typ.Reflect()).Elem()
	for it := s.typ.Value(p).MapRange(); it.Next(); {
		value.SetIterValue(it)
		for i := range s.value.refs {
			r := &s.value.refs[i]
			if !c.follow(r, layout.At(value.Addr().UnsafePointer(), r.offset)) {
				return false
			}
		}
	}
	return true
}

// boxed adds the memory behind the value in an interface. The value itself can't be changed in
// place.
func (c *collector) boxed(v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	s := shapeOf(v.Type())
	if c.size += blockSize + int(s.size); len(s.refs) == 0 {
		return c.size <= c.limit
	}
	room := reflect.New(v.Type())
	room.Elem().Set(v)
	for i := range s.refs {
		if !c.follow(&s.refs[i], layout.At(room.UnsafePointer(), s.refs[i].offset)) {
			return false
		}
	}
	return true
}

// mapLen returns the length of the map at p, which may have any type.
func mapLen(p layout.Pointer) int { return len(*layout.As[map[string]string](p)) }

const blockSize = 2 * wordSize

type checksum struct{ blocks, maps uint64 }

func (m *regions) checksum(seed maphash.Seed) checksum {
	return checksum{m.sumBlocks(seed), m.sumMaps(seed)}
}

// matches reports whether the present content has the checksum. Maps come last, since writing to a
// map while it is read may end the process: a map that has gained or lost an entry isn't read, nor
// is any map of a part that has changed elsewhere.
func (m *regions) matches(seed maphash.Seed, want checksum) bool {
	for i := range m.maps {
		if at := &m.maps[i]; mapLen(layout.Of(&at.m)) != at.n {
			return false
		}
	}
	return m.sumBlocks(seed) == want.blocks && m.sumMaps(seed) == want.maps
}

const hashFactor = 0x9e3779b97f4a7c15

func (m *regions) sumBlocks(seed maphash.Seed) (sum uint64) {
	for _, b := range m.blocks {
		sum = (sum<<5 | sum>>59) ^ maphash.Bytes(seed, layout.Bytes(b.at, b.n))*hashFactor
	}
	return sum
}

func (m *regions) sumMaps(seed maphash.Seed) (sum uint64) {
	for i := range m.maps {
		sum = (sum ^ m.maps[i].sum(seed)) * hashFactor
	}
	return sum
}

// sum returns a number independent of the order of the entries.
func (m *mapRegion) sum(seed maphash.Seed) (sum uint64) {
	if m.shape.strings {
		var entry [2]string
		for entry[0], entry[1] = range *layout.As[map[string]string](layout.Of(&m.m)) {
			sum += maphash.Bytes(seed, layout.Bytes(layout.Of(&entry), 4*wordSize))
		}
		return sum
	}
	return m.shape.sum(layout.Of(&m.m), seed)
}

// cursor reads the entries of maps of one type. Cursors are pooled, so reading allocates nothing.
type cursor struct {
	it         reflect.MapIter
	key, value reflect.Value
}

func (s *mapShape) sum(p layout.Pointer, seed maphash.Seed) (sum uint64) {
	c, _ := s.cursors.Get().(*cursor)
	if c == nil {
		c = &cursor{key: reflect.New(s.key.typ.Reflect()).Elem(), value: reflect.New(s.value.typ.Reflect()).Elem()}
	}
	for c.it.Reset(s.typ.Value(p)); c.it.Next(); {
		c.key.SetIterKey(&c.it)
		c.value.SetIterValue(&c.it)
		key := maphash.Bytes(seed, layout.Bytes(c.key.Addr().UnsafePointer(), s.key.size))
		value := maphash.Bytes(seed, layout.Bytes(c.value.Addr().UnsafePointer(), s.value.size))
		sum += (key ^ value*hashFactor) * hashFactor
	}
	c.it.Reset(reflect.Value{}) // keeps nothing of the part alive
	c.key.SetZero()
	c.value.SetZero()
	s.cursors.Put(c)
	return sum
}

type mapShape struct {
	typ        *layout.Type
	key, value *shape
	strings    bool      // of strings by strings
	cursors    sync.Pool // of *cursor
}

// bytes estimates the memory of a map of n entries: it has slots for eight entries, or for at least
// a seventh more than n. Large keys and values are outside of their slots.
func (s *mapShape) bytes(n int) int {
	const header, least, inline = 72, 8, 128
	slots := least
	for n > least && slots < n+n/7 {
		slots *= 2
	}
	slot, apart := 1, 0
	for _, t := range []*shape{s.key, s.value} {
		if t.size <= inline {
			slot += int(t.size)
		} else {
			slot += wordSize
			apart += int(t.size)
		}
	}
	return header + slots*slot + n*apart
}
