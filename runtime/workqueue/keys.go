// SPDX-License-Identifier: Apache-2.0

package workqueue

import "hash/maphash"

// keys are the keys of slots. It is a keeper.
type keys[K comparable] struct {
	pages[K]
	dropped []K // the first ones
}

// mostDropped is how many dropped keys are remembered.
const mostDropped = 100

func (k *keys[K]) grow() { k.pages = k.pages.grown() }

func (k *keys[K]) clear(i int32) {
	var zero K
	*k.at(i) = zero
}

func (k *keys[K]) drop(i int32) {
	if len(k.dropped) < mostDropped {
		k.dropped = append(k.dropped, *k.at(i))
	}
}

func (k *keys[K]) reset() { k.pages = nil }

func (q *Queue[K]) hash(key K) uint32 { return uint32(maphash.Comparable(q.seed, key) >> 32) }

// find returns the slot of a key. The lock is held.
func (q *Queue[K]) find(key K, hash uint32) int32 {
	cells := q.core.table.cells
	if len(cells) == 0 {
		return none
	}
	mask := uint32(len(cells) - 1)
	for at := hash & mask; cells[at].number != 0; at = (at + 1) & mask {
		if c := cells[at]; c.hash == hash && *q.keys.at(c.number - 1) == key {
			return c.number - 1
		}
	}
	return none
}
