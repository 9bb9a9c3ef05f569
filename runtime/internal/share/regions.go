// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"
	"reflect"
	"slices"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// regions is everything that a part refers to, as blocks and maps: what must not change. Blocks are
// read as they lie there, with the pointers and the headers of strings that are in them. What a
// pointer points to is a block of its own, and strings can't change, so equal bytes are equal
// values. No pointer is followed to read a memory again: whatever has been done to a part, what is
// read is the part's.
type regions struct {
	blocks []block
	maps   []mapped
	size   int // bytes that it takes, with an estimate for maps
}

type block struct {
	at layout.Pointer
	n  uintptr // bytes
}

// mapped is a map. It is the one thing that has to be read by way of Go's runtime.
type mapped struct {
	m     layout.Pointer // the map itself: one word
	n     int            // entries
	shape *mapShape
}

// collector makes memories, one after the other.
type collector struct {
	regions
	limit int // of size
}

// collect returns the memory of the value at p, which is a pointer, a slice or a map, if it takes
// no more than limit bytes.
func (c *collector) collect(r *ref, p layout.Pointer, limit int) (m regions, ok bool) {
	c.limit = limit
	if ok = c.follow(r, p) && c.size <= limit; ok {
		m = regions{slices.Clone(c.blocks), slices.Clone(c.maps), c.size}
	}
	clear(c.blocks)
	clear(c.maps)
	c.regions = regions{blocks: c.blocks[:0], maps: c.maps[:0]}
	if cap(c.blocks)+cap(c.maps) > keepBlocks {
		c.regions = regions{}
	}
	return m, ok
}

// keepBlocks is the number up to which room is used again.
const keepBlocks = 1 << 10

// follow adds what a reference at p refers to. It returns false if that is too much.
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
		return c.inner(r.typ.Value(p).Elem())
	}
}

// block adds n values, one after the other, which have room for more.
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

// mapAt adds the map at p.
func (c *collector) mapAt(s *mapShape, p layout.Pointer) bool {
	n := entries(p)
	if *layout.As[layout.Pointer](p) == nil {
		return true
	}
	if c.size += s.bytes(n); c.size > c.limit {
		return false
	}
	c.maps = append(c.maps, mapped{*layout.As[layout.Pointer](p), n, s})
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

// inner adds what the value in an interface refers to. The value itself can't be changed there.
func (c *collector) inner(v reflect.Value) bool {
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

// entries is the length of the map at p, of any type.
func entries(p layout.Pointer) int { return len(*layout.As[map[string]string](p)) }

// blockSize is what it takes to know a block.
const blockSize = 2 * wordSize

// checksum is a pair of numbers that stand for what is in a memory.
type checksum struct{ blocks, maps uint64 }

// read returns the checksum of what is there.
func (m *regions) read(seed maphash.Seed) checksum {
	return checksum{m.readBlocks(seed), m.readMaps(seed)}
}

// is reports whether what is there still has an checksum. Writing to a map while it is read may end
// the process, as always in Go. So maps come last: one that got or lost an entry, and one in a part
// that has changed otherwise, isn't read.
func (m *regions) is(seed maphash.Seed, p checksum) bool {
	for i := range m.maps {
		if at := &m.maps[i]; entries(layout.Of(&at.m)) != at.n {
			return false
		}
	}
	return m.readBlocks(seed) == p.blocks && m.readMaps(seed) == p.maps
}

const factor = 0x9e3779b97f4a7c15

func (m *regions) readBlocks(seed maphash.Seed) (sum uint64) {
	for _, b := range m.blocks {
		sum = (sum<<5 | sum>>59) ^ maphash.Bytes(seed, layout.Bytes(b.at, b.n))*factor
	}
	return sum
}

func (m *regions) readMaps(seed maphash.Seed) (sum uint64) {
	for i := range m.maps {
		sum = (sum ^ m.maps[i].read(seed)) * factor
	}
	return sum
}

// read returns a number that does not depend on the order of the entries.
func (m *mapped) read(seed maphash.Seed) (sum uint64) {
	if m.shape.strings {
		var entry [2]string
		for entry[0], entry[1] = range *layout.As[map[string]string](layout.Of(&m.m)) {
			sum += maphash.Bytes(seed, layout.Bytes(layout.Of(&entry), 4*wordSize))
		}
		return sum
	}
	return m.shape.read(layout.Of(&m.m), seed)
}

// cursor reads the entries of maps of a type. It is used again, so that it isn't allocated each
// time.
type cursor struct {
	it         reflect.MapIter
	key, value reflect.Value
}

func (s *mapShape) read(p layout.Pointer, seed maphash.Seed) (sum uint64) {
	c, _ := s.cursors.Get().(*cursor)
	if c == nil {
		c = &cursor{key: reflect.New(s.key.typ.Reflect()).Elem(), value: reflect.New(s.value.typ.Reflect()).Elem()}
	}
	for c.it.Reset(s.typ.Value(p)); c.it.Next(); {
		c.key.SetIterKey(&c.it)
		c.value.SetIterValue(&c.it)
		key := maphash.Bytes(seed, layout.Bytes(c.key.Addr().UnsafePointer(), s.key.size))
		value := maphash.Bytes(seed, layout.Bytes(c.value.Addr().UnsafePointer(), s.value.size))
		sum += (key ^ value*factor) * factor
	}
	c.it.Reset(reflect.Value{}) // nothing of the part is kept
	c.key.SetZero()
	c.value.SetZero()
	s.cursors.Put(c)
	return sum
}

// mapShape is what maps of a type look like.
type mapShape struct {
	typ        *layout.Type
	key, value *shape
	strings    bool      // of strings by strings
	cursors    sync.Pool // of *cursor
}

// bytes is about what a map of n entries takes: slots for eight of them, or for at least a seventh
// more than it has. What is large is not in its slot.
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
