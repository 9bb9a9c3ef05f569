// SPDX-License-Identifier: Apache-2.0

package workqueue

// delays are the times that slots wait for: a heap, each node with four children, which are one
// line of the CPU's cache. A time that has been dropped or replaced stays in the heap until it
// comes up, or until such times are more than half of the heap. So slots need not know where in the
// heap they are, and no move within the heap writes to a slot.
type delays struct {
	heap []delay
	// stale is how many delays of the heap are of no slot any more.
	stale  int
	pushed uint32
}

type delay struct {
	due   int64
	slot  int32
	order uint32 // in which it was pushed, modulo 2^32
}

// before reports whether e comes up before f: in the order of time, and of equal times in that in
// which they were pushed.
func (e delay) before(f delay) bool {
	return e.due < f.due || e.due == f.due && int32(e.order-f.order) < 0
}

const children = 4

// keptDelays is room for so many delays that is never given back.
const keptDelays = 1024

// push adds a delay of slot i, which is s.
func (d *delays) push(due int64, i int32, s *slot) {
	s.setTime(due)
	s.pos = int32(d.pushed)
	d.heap = append(d.heap, delay{due, i, d.pushed})
	d.pushed++
	d.up(len(d.heap) - 1)
}

// pop removes the first delay, of which there is one.
func (d *delays) pop() delay {
	first, last := d.heap[0], len(d.heap)-1
	d.heap[0] = d.heap[last]
	d.heap = d.heap[:last]
	d.down(0)
	return first
}

// dropped takes note that a delay is of no slot any more.
func (d *delays) dropped(slots pages[slot]) {
	d.stale++
	if d.stale <= 32 || 2*d.stale <= len(d.heap) {
		return
	}
	kept := d.heap[:0]
	for _, e := range d.heap {
		if slots.at(e.slot).waitsFor(e) {
			kept = append(kept, e)
		}
	}
	if cap(kept) > 4*(len(kept)+keptDelays) {
		kept = append(make([]delay, 0, 2*len(kept)), kept...)
	}
	d.heap, d.stale = kept, 0
	for i := len(kept)/children + 1; i >= 0; i-- {
		d.down(i)
	}
}

func (d *delays) up(i int) {
	moved := d.heap[i]
	for i > 0 {
		parent := (i - 1) / children
		if !moved.before(d.heap[parent]) {
			break
		}
		d.heap[i] = d.heap[parent]
		i = parent
	}
	d.heap[i] = moved
}

func (d *delays) down(i int) {
	if i >= len(d.heap) {
		return
	}
	moved := d.heap[i]
	for {
		least := children*i + 1
		if least >= len(d.heap) {
			break
		}
		for c, end := least+1, min(least+children, len(d.heap)); c < end; c++ {
			if d.heap[c].before(d.heap[least]) {
				least = c
			}
		}
		if !d.heap[least].before(moved) {
			break
		}
		d.heap[i] = d.heap[least]
		i = least
	}
	d.heap[i] = moved
}
