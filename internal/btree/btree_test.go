// SPDX-License-Identifier: Apache-2.0

package btree

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

type entry struct{ key, value int }

func (e entry) Key() int { return e.key }

type moment struct {
	t    Tree[int, entry]
	want map[int]entry
}

// TestTreeAgainstAMap sets and deletes entries with and without an owner, and compares trees of any
// age with maps: the newest ones, and at the end those that later changes share nodes with.
func TestTreeAgainstAMap(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, keys := range []int{3, width + 1, 1000, 5000} {
		var now Tree[int, entry]
		want := map[int]entry{}
		var history []moment
		owner := uint64(1)
		for step := range 6 * keys {
			e := entry{r.IntN(keys), step}
			if r.IntN(3) == 0 {
				e.key = step % keys // in order, so that leaves grow at their ends
			}
			by := owner * uint64(step/keys%2) // 0 in every second round
			if grow := step/keys%3 < 2; grow == (r.IntN(8) > 0) {
				now.Set(by, e)
				want[e.key] = e
			} else {
				_, has := want[e.key]
				if now.Delete(by, e.key) != has {
					t.Fatalf("Delete(%d) reports %v, want %v", e.key, !has, has)
				}
				delete(want, e.key)
			}
			if step%(1+keys/20) == 0 {
				history = append(history, moment{now, maps.Clone(want)})
				owner++
				verify(t, history[len(history)-1])
			}
		}
		for i, m := range history {
			verify(t, m)
			verifyDiff(t, m, history[r.IntN(i+1)])
		}
		for key := range want {
			now.Delete(owner, key)
		}
		verify(t, moment{now, nil})
	}
}

func verify(t *testing.T, m moment) {
	t.Helper()
	all := slices.SortedFunc(maps.Values(m.want), func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	if got := slices.Collect(m.t.All); !slices.Equal(got, all) || m.t.Len() != len(all) {
		t.Fatalf("%d entries, of which All yields %d, want %d", m.t.Len(), len(got), len(all))
	}
	for i := 0; i <= len(all); i += 1 + len(all)/20 {
		key := 0
		if i < len(all) {
			key = all[i].key
		} else if i > 0 {
			key = all[i-1].key + 1
		}
		if got := m.t.Rank(key); got != i {
			t.Fatalf("Rank(%d) = %d, want %d", key, got, i)
		}
		n := 0
		for e := range func(yield func(entry) bool) { m.t.From(key, yield) } {
			if e != all[i+n] {
				t.Fatalf("From(%d) yields %v, want %v", key, e, all[i+n])
			}
			if n++; n == 100 {
				break
			}
		}
		if n != min(100, len(all)-i) {
			t.Fatalf("From(%d) yields %d entries of %d", key, n, len(all)-i)
		}
		if e, ok := m.t.Get(key); ok != (i < len(all)) || ok && e != all[i] {
			t.Fatalf("Get(%d) = %v, %v", key, e, ok)
		}
	}
	if m.t.root != nil {
		checkNode(t, m.t.root, levels(m.t), true)
	}
}

// checkNode verifies the width and the depth of a node, and what it says of those below.
func checkNode(t *testing.T, n *node[int, entry], levels int, root bool) {
	t.Helper()
	if wide := len(n.entries) + len(n.children); wide > width || wide == 0 || root && len(n.children) == 1 || (levels == 1) != (n.children == nil) {
		t.Fatalf("a node of %d entries and %d children on level %d", len(n.entries), len(n.children), levels)
	}
	for _, c := range n.children {
		if checkNode(t, c.node, levels-1, false); c.least != c.first() || c.count != c.node.count() {
			t.Fatalf("a child has %d entries from %d on, and is taken for %d from %d on", c.node.count(), c.first(), c.count, c.least)
		}
	}
}

func verifyDiff(t *testing.T, a, b moment) {
	t.Helper()
	want := map[int][2]entry{}
	for key, e := range a.want {
		want[key] = [2]entry{e, b.want[key]}
	}
	for key, e := range b.want {
		want[key] = [2]entry{a.want[key], e}
	}
	last := -1
	Diff(a.t, b.t, func(before, after entry) {
		key := max(before.key, after.key)
		if want[key] != [2]entry{before, after} || key <= last {
			t.Fatalf("%v becomes %v, want %v; the key before was %d", before, after, want[key], last)
		}
		delete(want, key)
		last = key
	})
	for key, e := range want {
		if e[0] != e[1] {
			t.Fatalf("the change of %d from %v to %v is missing", key, e[0], e[1])
		}
	}
}

// TestInOrderStaysFull sets entries in the order of their keys.
func TestInOrderStaysFull(t *testing.T) {
	var all Tree[int, entry]
	const n = 10 * width * width
	for i := range n {
		all.Set(1, entry{key: i})
	}
	if leaves := len(all.leaves()); leaves > n/width+1 || levels(all) > 5 {
		t.Errorf("%d leaves on %d levels for %d entries", leaves, levels(all), n)
	}
}

// TestASetCopiesOnlyTheWay counts the leaves that two trees share.
func TestASetCopiesOnlyTheWay(t *testing.T) {
	var before Tree[int, entry]
	for i := range 10_000 {
		before.Set(1, entry{key: i})
	}
	after := before
	after.Set(0, entry{5000, 1})
	other := 0
	for i, leaf := range after.leaves() {
		if leaf != before.leaves()[i] {
			other++
		}
	}
	if e, _ := before.Get(5000); other != 1 || e.value != 0 {
		t.Errorf("%d leaves were copied, want one; the old tree has the value %d", other, e.value)
	}
}

// levels returns the number of nodes from the root to a leaf.
func levels(t Tree[int, entry]) (n int) {
	for at := t.root; at != nil; n++ {
		if at.children == nil {
			return n + 1
		}
		at = at.children[0].node
	}
	return n
}
