// SPDX-License-Identifier: Apache-2.0

package workqueue

// slot is what a queue knows of one key. With a key of two strings beside it, it is 64 bytes.
type slot struct {
	// a and b are one of three things: the links in a list, while the key is ready or paced; the
	// time until which it waits, while it is delayed or held; or, while it is running, the time at
	// which it was added again, or the one until which it will wait then.
	a, b     int32
	since    int64  // when it became ready, or began to run; if it failed, when it last ran
	hash     uint32 // of the key
	run      uint32 // which hand-out the running one is
	pos      int32  // in core.running; while it has a time in the heap, the order of that
	failures uint8
	flags    flags
	level    uint8 // by number
	next     uint8 // while it is running and was added again: the level that it will have
}

// flags are the states of a slot. It has one of running, held, ready and paced, or delayed alone.
type flags uint8

const (
	running flags = 1 << iota // was handed out
	held                      // waits for Release, and has a time in the heap
	ready                     // is in the list of its level
	paced                     // is in the list of those that wait for Options.RetryRate
	delayed                   // has a time in the heap; if running or held, it will have
	again                     // while running or held: was added
	retry                     // while delayed: because it failed, so that it will be paced
)

func (s *slot) is(f flags) bool { return s.flags&f != 0 }

func (s *slot) time() int64 { return int64(s.a)<<32 | int64(uint32(s.b)) }

func (s *slot) setTime(t int64) { s.a, s.b = int32(t>>32), int32(t) }

// waitsFor reports whether e is what s has in the heap.
func (s *slot) waitsFor(e delay) bool {
	return s.is(delayed|held) && !s.is(running) && s.time() == e.due && uint32(s.pos) == e.order
}

// A page has so many slots. It is 32 KB, and one of keys with two strings as well: the smallest
// size that Go's allocator doesn't round up. The first page of a queue grows up to that.
const (
	pageBits  = 9
	pageSlots = 1 << pageBits
	firstPage = 16
)

// pages are what each slot has, by the number of the slot.
type pages[T any] [][]T

func (p pages[T]) at(i int32) *T { return &p[i>>pageBits][i&(pageSlots-1)] }

func (p pages[T]) len() int32 {
	if len(p) == 0 {
		return 0
	}
	return int32((len(p)-1)<<pageBits + len(p[len(p)-1]))
}

// grown returns p with more slots: the first page doubles until it is full, then pages are added.
// The pointers that at has returned are of no more use.
func (p pages[T]) grown() pages[T] {
	switch {
	case len(p) == 0:
		return append(p, make([]T, firstPage))
	case len(p[0]) < pageSlots:
		page := make([]T, 2*len(p[0]))
		copy(page, p[0])
		p[0] = page
		return p
	}
	return append(p, make([]T, pageSlots))
}

// none is the number of no slot.
const none int32 = -1

// list is a doubly linked list of slots, by their fields a (next) and b (previous).
type list struct {
	first, last int32
	n           int
}

// push adds slot i, which is s, at the end.
func (l *list) push(slots pages[slot], i int32, s *slot) {
	s.a, s.b = none, l.last
	if l.n == 0 {
		l.first = i
		s.b = none
	} else {
		slots.at(l.last).a = i
	}
	l.last = i
	l.n++
}

func (l *list) remove(slots pages[slot], s *slot) {
	if s.b == none {
		l.first = s.a
	} else {
		slots.at(s.b).a = s.a
	}
	if s.a == none {
		l.last = s.b
	} else {
		slots.at(s.a).b = s.b
	}
	l.n--
}
