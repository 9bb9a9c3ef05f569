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

type snapshot struct {
	t    Tree[int, entry]
	want map[int]entry
}

// TestTreeAgainstMap sets and deletes entries with and without an owner. It compares each snapshot
// with a map, once when it is taken and again at the end.
func TestTreeAgainstMap(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, keys := range []int{3, maxWidth + 1, 1000, 5000} {
		var tree Tree[int, entry]
		want := map[int]entry{}
		var history []snapshot
		owner := uint64(1)
		for step := range 6 * keys {
			e := entry{r.IntN(keys), step}
			if r.IntN(3) == 0 {
				e.key = step % keys // in key order, so leaves grow at their ends
			}
			setOwner := owner * uint64(step/keys%2) // 0 in every second round
			if grow := step/keys%3 < 2; grow == (r.IntN(8) > 0) {
				tree.Set(setOwner, e)
				want[e.key] = e
			} else {
				_, has := want[e.key]
				if tree.Delete(setOwner, e.key) != has {
					t.Fatalf("Delete(%d) = %v, want %v", e.key, !has, has)
				}
				delete(want, e.key)
			}
			if step%(1+keys/20) == 0 {
				history = append(history, snapshot{tree, maps.Clone(want)})
				owner++
				verify(t, history[len(history)-1])
			}
		}
		for i, m := range history {
			verify(t, m)
			verifyDiff(t, m, history[r.IntN(i+1)])
		}
		for key := range want {
			tree.Delete(owner, key)
		}
		verify(t, snapshot{tree, nil})
	}
}

func verify(t *testing.T, m snapshot) {
	t.Helper()
	all := slices.SortedFunc(maps.Values(m.want), func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	if got := slices.Collect(m.t.All); !slices.Equal(got, all) || m.t.Len() != len(all) {
		t.Fatalf("Len() = %d, All yields %d entries, want %d", m.t.Len(), len(got), len(all))
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
			t.Fatalf("From(%d) yields %d entries, want %d", key, n, min(100, len(all)-i))
		}
		if e, ok := m.t.Get(key); ok != (i < len(all)) || ok && e != all[i] {
			t.Fatalf("Get(%d) = %v, %v", key, e, ok)
		}
	}
	if m.t.root != nil {
		checkNode(t, m.t.root, levels(m.t), true)
	}
}

// checkNode verifies the size of a node, its level, and the least keys and counts of its children.
func checkNode(t *testing.T, n *node[int, entry], levels int, root bool) {
	t.Helper()
	if size := len(n.entries) + len(n.children); size > maxWidth || size == 0 || root && len(n.children) == 1 || (levels == 1) != (n.children == nil) {
		t.Fatalf("node of %d entries and %d children on level %d", len(n.entries), len(n.children), levels)
	}
	for _, c := range n.children {
		if checkNode(t, c.node, levels-1, false); c.minKey != c.first() || c.count != c.node.count() {
			t.Fatalf("child with %d entries from key %d on is recorded with %d from %d on", c.node.count(), c.first(), c.count, c.minKey)
		}
	}
}

func verifyDiff(t *testing.T, a, b snapshot) {
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
			t.Fatalf("Diff visits (%v, %v), want %v; the previous key was %d", before, after, want[key], last)
		}
		delete(want, key)
		last = key
	})
	for key, e := range want {
		if e[0] != e[1] {
			t.Fatalf("Diff misses the change of key %d from %v to %v", key, e[0], e[1])
		}
	}
}

// TestSetInOrderFillsNodes sets entries in key order.
func TestSetInOrderFillsNodes(t *testing.T) {
	var all Tree[int, entry]
	const n = 10 * maxWidth * maxWidth
	for i := range n {
		all.Set(1, entry{key: i})
	}
	if leaves := len(all.leaves()); leaves > n/maxWidth+1 || levels(all) > 5 {
		t.Errorf("%d leaves on %d levels for %d entries, want at most %d on 5", leaves, levels(all), n, n/maxWidth+1)
	}
}

// TestSetCopiesOnlyThePath counts the leaves two trees don't share.
func TestSetCopiesOnlyThePath(t *testing.T) {
	var before Tree[int, entry]
	for i := range 10_000 {
		before.Set(1, entry{key: i})
	}
	after := before
	after.Set(0, entry{5000, 1})
	copied := 0
	for i, leaf := range after.leaves() {
		if leaf != before.leaves()[i] {
			copied++
		}
	}
	if e, _ := before.Get(5000); copied != 1 || e.value != 0 {
		t.Errorf("Set copied %d leaves, want 1; the snapshot has value %d, want 0", copied, e.value)
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
