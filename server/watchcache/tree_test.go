// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreeAgainstMap puts and removes objects at random, and holds each tree against a sorted map.
// Trees of earlier steps must not change.
func TestTreeAgainstMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 40, 3000} {
		var now tree[*Object]
		has := map[string]*Object{}
		type earlier struct {
			tree tree[*Object]
			has  []*Object
		}
		var kept []earlier
		for step := range 4 * size {
			key := fmt.Sprintf("n%d/o%d", random.IntN(7), random.IntN(size))
			if shrinks := step/size%2 == 1; random.IntN(4) == 0 != shrinks {
				now = now.remove(key)
				delete(has, key)
			} else {
				o := &Object{Key: key, Version: uint64(step)}
				now = now.put(o)
				has[key] = o
			}
			if step%max(1, size/20) == 0 {
				kept = append(kept, earlier{now, inOrder(has)})
			}
		}
		for _, k := range append(kept, earlier{treeOf(inOrder(has)), inOrder(has)}, earlier{now, inOrder(has)}) {
			checkTree(t, k.tree, k.has, random)
			checkDiff(t, k.tree, now, k.has, inOrder(has))
			checkDiff(t, now, k.tree, inOrder(has), k.has)
		}
	}
}

func inOrder(m map[string]*Object) (objects []*Object) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		objects = append(objects, m[key])
	}
	return objects
}

func checkTree(t *testing.T, tr tree[*Object], want []*Object, random *rand.Rand) {
	t.Helper()
	if tr.len() != len(want) {
		t.Fatalf("len is %d, want %d", tr.len(), len(want))
	}
	if tr.root != nil {
		checkBranch(t, tr.root, true)
	}
	for range 20 {
		key := fmt.Sprintf("n%d/o%d", random.IntN(8), random.IntN(3000))
		rank, found := slices.BinarySearchFunc(want, key, func(o *Object, key string) int {
			return slices.Compare([]byte(o.Key), []byte(key))
		})
		var got []*Object
		tr.from(key, func(o *Object) bool { got = append(got, o); return len(got) < 100 })
		if n := min(len(want)-rank, 100); !slices.Equal(got, want[rank:rank+n]) {
			t.Fatalf("from %s: got %d objects, or others", key, len(got))
		}
		if r := tr.rank(key); r != rank {
			t.Fatalf("rank of %s is %d, want %d", key, r, rank)
		}
		if o := tr.get(key); (o != nil) != found || found && o != want[rank] {
			t.Fatalf("get %s: %v", key, o)
		}
	}
}

// checkDiff shows that the difference of two trees leads from what the one has to what the other
// has.
func checkDiff(t *testing.T, from, to tree[*Object], before, after []*Object) {
	t.Helper()
	has := map[string]*Object{}
	for _, o := range before {
		has[o.Key] = o
	}
	last := ""
	from.diff(to, func(old, now *Object) {
		key := cmp.Or(now, old).Key
		if old == now || key <= last || has[key] != old {
			t.Fatalf("diff has %v and %v after %s, where %v was", old, now, last, has[key])
		}
		if last = key; now == nil {
			delete(has, key)
		} else {
			has[key] = now
		}
	})
	if !slices.Equal(inOrder(has), after) {
		t.Fatal("the difference does not lead from one tree to the other")
	}
}

// checkBranch checks what a branch knows about itself.
func checkBranch(t *testing.T, b *branch[*Object], root bool) {
	t.Helper()
	if w := b.width(); w == 0 || w > treeWidth || !root && len(b.objects) > 0 == (len(b.branches) > 0) {
		t.Fatalf("a branch has %d objects and %d branches", len(b.objects), len(b.branches))
	}
	count, least := len(b.objects), ""
	if count > 0 {
		least = b.objects[0].Key
	}
	for i, below := range b.branches {
		checkBranch(t, below, false)
		if count += below.count; i == 0 {
			least = below.least
		}
	}
	if count != b.count || least != b.least {
		t.Fatalf("a branch has %d objects from %s on, and says %d from %s on", count, least, b.count, b.least)
	}
}

// TestTreeStaysFlat shows that keys in ascending order fill the branches, and that a tree which has
// shrunk is as small as a new one.
func TestTreeStaysFlat(t *testing.T) {
	var tr tree[*Object]
	for i := range 10_000 {
		tr = tr.put(&Object{Key: fmt.Sprintf("%06d", i)})
	}
	if n := branches(tr.root); n > 2*10_000/treeWidth {
		t.Errorf("%d branches for 10,000 objects in ascending order", n)
	}
	for i := range 10_000 {
		if i%100 != 0 {
			tr = tr.remove(fmt.Sprintf("%06d", i))
		}
	}
	if n := branches(tr.root); n > 30 {
		t.Errorf("%d branches for the 100 objects that are left", n)
	}
}

func branches(b *branch[*Object]) int {
	n := 1
	for _, below := range b.branches {
		n += branches(below)
	}
	return n
}
