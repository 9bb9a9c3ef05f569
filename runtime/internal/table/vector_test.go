// SPDX-License-Identifier: Apache-2.0

package table

import (
	"maps"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestVectorAgainstAMap fills and empties slots, and compares states of every age with maps.
func TestVectorAgainstAMap(t *testing.T) {
	type moment struct {
		v    vector
		want map[uint32]object.Object
	}
	r := newRand(t)
	for _, most := range []int{10, 40, 300, slotsIn(1) + 10, slotsIn(1) * 3} {
		var v vector
		want := map[uint32]object.Object{}
		var taken []uint32
		var moments []moment
		for step := range 4 * most {
			owner := uint64(1 + step/3)
			if grow := step/most%2 == 0; grow == (r.IntN(8) > 0) {
				slot := v.free()
				for s := slot - min(slot, 50); s < slot; s++ {
					if want[s] == nil {
						t.Fatalf("slot %d is free, but the lowest one is %d", slot, s)
					}
				}
				taken, want[slot] = append(taken, slot), newThing("", "")
				v.set(owner, slot, want[slot])
			} else if len(taken) > 0 {
				i := r.IntN(len(taken))
				v.set(owner, taken[i], nil)
				delete(want, taken[i])
				taken[i] = taken[len(taken)-1]
				taken = taken[:len(taken)-1]
			}
			if step%3 == 2 && step/3%(1+most/30) == 0 {
				moments = append(moments, moment{v, maps.Clone(want)})
			}
		}
		for _, m := range moments {
			n := 0
			for slot, obj := range m.v.each {
				if n++; m.want[slot] != obj || m.v.get(slot) != obj {
					t.Fatalf("slot %d has another object than it had", slot)
				}
			}
			if n != len(m.want) || m.v.root.len() != n || m.v.get(1<<30) != nil {
				t.Fatalf("%d objects in %d slots, want %d", m.v.root.len(), n, len(m.want))
			}
			checkBranch(t, m.v.root, m.v.height)
		}
	}
}
