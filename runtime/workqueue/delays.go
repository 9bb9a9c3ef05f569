// SPDX-License-Identifier: Apache-2.0

package workqueue

// delays are the times that slots wait for: a heap, each node with four children. A time that has
// been dropped or replaced stays in the heap until it comes up, or until such times are more than
// half of the heap. So slots need not know where in the heap they are, and no move within the heap
// writes to a slot.
type delays struct {
	// heap is nil, or has its root at index 3, which lets four children be one line of the CPU's
	// cache. What is before that is not used.
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

const (
	root     = 3
	children = 4
)

func parentOf(i int) int { return i/children + root - 1 }

// firstChildOf returns the index of the first child; the others follow.
func firstChildOf(i int) int { return children * (i - root + 1) }

// len returns how many delays there are, stale ones included.
func (d *delays) len() int { return max(0, len(d.heap)-root) }

// first returns the delay that comes up first; ok is false if there is none.
func (d *delays) first() (first delay, ok bool) {
	if len(d.heap) <= root {
		return first, false
	}
	return d.heap[root], true
}

// isDue reports whether the first delay ends by now.
func (d *delays) isDue(now int64) bool { return len(d.heap) > root && d.heap[root].due <= now }

// keptDelays is room for so many delays that is never given back.
const keptDelays = 1024

// push adds a delay of slot i, which is s.
func (d *delays) push(due int64, i int32, s *slot) {
	s.setTime(due)
	s.pos = int32(d.pushed)
	if d.heap == nil {
		d.heap = make([]delay, root, 4*children)
	}
	d.heap = append(d.heap, delay{due, i, d.pushed})
	d.pushed++
	d.up(len(d.heap) - 1)
}

// pop removes the first delay, of which there is one.
func (d *delays) pop() delay {
	first, last := d.heap[root], len(d.heap)-1
	d.heap[root] = d.heap[last]
	d.heap = d.heap[:last]
	d.down(root)
	return first
}

// dropped takes note that a delay is of no slot any more.
func (d *delays) dropped(slots pages[slot]) {
	d.stale++
	if d.stale <= 32 || 2*d.stale <= d.len() {
		return
	}
	kept := d.heap[:root]
	for _, e := range d.heap[root:] {
		if slots.at(e.slot).waitsFor(e) {
			kept = append(kept, e)
		}
	}
	if cap(kept) > 4*(len(kept)+keptDelays) {
		kept = append(make([]delay, 0, 2*len(kept)), kept...)
	}
	d.heap, d.stale = kept, 0
	for i := parentOf(len(kept)); i >= root; i-- {
		d.down(i)
	}
}

func (d *delays) up(i int) {
	moved := d.heap[i]
	for i > root {
		parent := parentOf(i)
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
		least := firstChildOf(i)
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
