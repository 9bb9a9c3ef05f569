// SPDX-License-Identifier: Apache-2.0

package table

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestPostingsInEachForm adds slots to a posting and removes them again, dense and far between,
// some with one owner and some with another for each, and compares it with a set; what it was
// before is compared again at the end.
func TestPostingsInEachForm(t *testing.T) {
	type moment struct {
		p    *posting
		want map[uint32]bool
	}
	r := newRand(t)
	for _, slotRange := range []int{200, sizeOf(0), sizeOf(0) + 300, sizeOf(1), sizeOf(2), sizeOf(4), math.MaxInt32} {
		for _, most := range []int{3, fewMax + 2, 1000, 3000} {
			p, want := &posting{key: "key", n: 1}, map[uint32]bool{0: true}
			var moments []moment
			owner := uint64(1)
			for step := range 5 * most {
				if r.IntN(20) > 0 && step/most%2 == 0 || r.IntN(3) == 0 {
					owner++
				}
				slot := uint32(r.IntN(slotRange))
				if r.IntN(4) > 0 { // in one region
					slot = slot % 7 * 777 % uint32(slotRange)
					slot = min(slot+uint32(r.IntN(600)), uint32(slotRange-1))
				}
				if grow := step%(2*most) < most; grow == (r.IntN(8) > 0) {
					p = p.with(owner, slot)
					want[slot] = true
				} else if len(want) > 1 {
					if !want[slot] {
						slot = someOf(r, want)
					}
					if with := p.with(owner, slot); with != p {
						t.Fatal("a slot that is there was added")
					}
					p = p.without(owner, slot)
					delete(want, slot)
				}
				if p.has(slot) != want[slot] || int(p.n) != len(want) {
					t.Fatalf("%d slots with %d: %v; want %d, %v", p.n, slot, p.has(slot), len(want), want[slot])
				}
				if step%(most/3) == 0 {
					moments = append(moments, moment{p, maps.Clone(want)})
					owner++
				}
			}
			for _, m := range append(moments, moment{p, want}) {
				checkPosting(t, m.p)
				all := slices.Sorted(maps.Keys(m.want))
				if got := slotsIn(m.p); !slices.Equal(got, all) {
					t.Fatalf("range %d: a posting of %d slots has become one of %d", slotRange, len(all), len(got))
				}
				for range 100 {
					if slot := uint32(r.IntN(slotRange)); m.p.has(slot) != m.want[slot] {
						t.Fatalf("has(%d) is %v", slot, m.p.has(slot))
					}
				}
			}
			owner++
			for slot := range want {
				if p = p.without(owner, slot); p != nil && (p.n%100 == 0 || p.n == fewMax/2) {
					checkPosting(t, p)
				}
			}
			if p != nil {
				t.Fatalf("%d slots are left", p.n)
			}
		}
	}
}

func someOf(r *rand.Rand, slots map[uint32]bool) uint32 {
	n := r.IntN(min(len(slots), 10))
	for slot := range slots {
		if n--; n < 0 {
			return slot
		}
	}
	return 0
}

// TestChangeOfAPostingCopiesLittle compares what it costs to take one slot out of postings of
// 20,000 and of 1,000,000 objects.
func TestChangeOfAPostingCopiesLittle(t *testing.T) {
	const changes = 500
	for _, apart := range []int{1, 3, 100, 1000} {
		cost := func(objects int) int {
			p := &posting{key: "key", n: 1}
			for slot := apart; slot < objects; slot += apart {
				p = p.with(1, uint32(slot))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := range changes {
				runtime.KeepAlive(p.without(uint64(2+i), uint32(i*7919%int(p.n)*apart)))
			}
			runtime.ReadMemStats(&after)
			return int(after.TotalAlloc-before.TotalAlloc) / changes
		}
		few, many := cost(20_000), cost(1_000_000)
		if many > few+400 {
			t.Errorf("one slot in %d: a change copies %d bytes of 20,000, and %d of 1,000,000", apart, few, many)
		}
	}
}
