// SPDX-License-Identifier: Apache-2.0

package workqueue

// table finds slots by the hash of their key: an open-addressing hash table with linear probing,
// which has 8 bytes for each place and at least a quarter of the places empty. Comparing keys is
// the caller's part. Go's map would keep each key a second time.
type table struct {
	cells []cell // a power of two, or none
	n     int
}

// cell is one place. The zero cell is empty.
type cell struct {
	hash   uint32
	number int32 // of the slot, plus one
}

const leastCells = 32

// insert adds a slot, which is not in the table.
func (t *table) insert(hash uint32, i int32) {
	if 4*(t.n+1) > 3*len(t.cells) {
		t.grow()
	}
	t.put(cell{hash, i + 1})
	t.n++
}

func (t *table) put(c cell) {
	mask := uint32(len(t.cells) - 1)
	at := c.hash & mask
	for t.cells[at].number != 0 {
		at = (at + 1) & mask
	}
	t.cells[at] = c
}

func (t *table) grow() {
	old := t.cells
	t.cells = make([]cell, max(leastCells, 2*len(old)))
	for _, c := range old {
		if c.number != 0 {
			t.put(c)
		}
	}
}

// remove takes a slot out, which is in the table. Cells after it that would not be found across the
// gap move into it, so that no marks of removed cells are needed.
func (t *table) remove(hash uint32, i int32) {
	mask := uint32(len(t.cells) - 1)
	gap := hash & mask
	for t.cells[gap].number != i+1 {
		gap = (gap + 1) & mask
	}
	for at := (gap + 1) & mask; t.cells[at].number != 0; at = (at + 1) & mask {
		wanted := t.cells[at].hash & mask
		if (at-wanted)&mask >= (at-gap)&mask {
			t.cells[gap] = t.cells[at]
			gap = at
		}
	}
	t.cells[gap] = cell{}
	t.n--
}
