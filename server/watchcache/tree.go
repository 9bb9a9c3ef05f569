// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"cmp"
	"slices"
	"strings"
)

// treeWidth is how many objects or branches a branch has at most.
const treeWidth = 32

// keyed is what a tree has: objects, or the entries of an index.
type keyed interface {
	comparable
	key() string
}

// tree is a persistent set of objects in the order of their keys: a B-tree whose branches are never
// changed. Copying the struct takes a snapshot. The zero tree is empty.
//
// To put an object or to remove one: copy the branches on the way to it, from the root down, and
// change the copies. Two trees share all other branches. So each change of the log can hold the
// whole state after it, and a list begins at any key of it.
//
// The table of package internal/table would take less memory for a change, but it is hashed: it
// could neither list in the order of keys nor begin a page in the middle.
type tree[E keyed] struct{ root *branch[E] }

// branch is a part of a tree. It has either objects or branches, at least one.
type branch[E keyed] struct {
	least    string // key
	count    int    // of the objects below
	objects  []E
	branches []*branch[E]
}

// treeOf returns a tree of objects, which must be in order and have different keys.
func treeOf[E keyed](objects []E) tree[E] {
	var level []*branch[E]
	for part := range slices.Chunk(objects, treeWidth) {
		level = append(level, branchOf(slices.Clone(part)))
	}
	for len(level) > 1 {
		var above []*branch[E]
		for part := range slices.Chunk(level, treeWidth) {
			above = append(above, branchAbove(slices.Clone(part)))
		}
		level = above
	}
	if len(level) == 0 {
		return tree[E]{}
	}
	return tree[E]{level[0]}
}

func branchOf[E keyed](objects []E) *branch[E] {
	return &branch[E]{least: objects[0].key(), count: len(objects), objects: objects}
}

func branchAbove[E keyed](branches []*branch[E]) *branch[E] {
	b := &branch[E]{least: branches[0].least, branches: branches}
	for _, below := range branches {
		b.count += below.count
	}
	return b
}

// len returns the number of objects.
func (t tree[E]) len() int {
	if t.root == nil {
		return 0
	}
	return t.root.count
}

// Bytes of memory: a branch without what it has, and what a leaf has of an object or an entry.
const (
	branchMemory  = 80
	pointerMemory = 8
	stringMemory  = 16
)

// wayMemory returns about how many bytes of memory the branches on the way to an object take: what
// one put or remove copies. leaf is what a leaf has of each. All branches but the root count as
// full, as they are in a tree that was made by treeOf.
func (t tree[E]) wayMemory(leaf int64) int64 {
	b := t.root
	if b == nil {
		return 0
	}
	n, width := int64(0), int64(b.width())
	for ; b.objects == nil; b = b.branches[0] { // the least way is in the processor's cache
		n += branchMemory + pointerMemory*width
		width = treeWidth
	}
	return n + branchMemory + leaf*width
}

// get returns the object under key, or the zero value.
func (t tree[E]) get(key string) (found E) {
	b := t.root
	if b == nil {
		return found
	}
	for b.objects == nil {
		b = b.branches[b.way(key)]
	}
	if at, ok := b.find(key); ok {
		return b.objects[at]
	}
	return found
}

// put returns the tree with o under its key.
func (t tree[E]) put(o E) tree[E] {
	if t.root == nil {
		return tree[E]{branchOf([]E{o})}
	}
	switch parts := t.root.put(o); len(parts) {
	case 1:
		return tree[E]{parts[0]}
	default:
		return tree[E]{branchAbove(parts)}
	}
}

// remove returns the tree without the object under key.
func (t tree[E]) remove(key string) tree[E] {
	var none E
	if t.get(key) == none {
		return t
	}
	root := t.root.remove(key)
	for root != nil && len(root.branches) == 1 {
		root = root.branches[0]
	}
	return tree[E]{root}
}

// rank returns how many objects have a key less than key.
func (t tree[E]) rank(key string) (n int) {
	b := t.root
	if b == nil {
		return 0
	}
	for b.objects == nil {
		at := b.way(key)
		for _, less := range b.branches[:at] {
			n += less.count
		}
		b = b.branches[at]
	}
	at, _ := b.find(key)
	return n + at
}

// from yields the objects from a key on until yield returns false.
func (t tree[E]) from(key string, yield func(E) bool) {
	if t.root != nil {
		t.root.from(key, yield)
	}
}

// between returns how many objects have a key from from on and before to, if to isn't "".
func (t tree[E]) between(from, to string) int {
	end := t.len()
	if to != "" {
		end = t.rank(to)
	}
	return max(0, end-t.rank(from))
}

// diff calls visit with each object that is not the same in both trees, in the order of keys: as it
// is in t, and as it is in u, or nil. Leaves that the trees share cost one comparison.
func (t tree[E]) diff(u tree[E], visit func(before, after E)) {
	a, b := t.leaves(), u.leaves()
	i, j := 0, 0 // of the objects of the first leaves
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		case i == 0 && j == 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
			continue
		default:
			order = strings.Compare(a[0].objects[i].key(), b[0].objects[j].key())
		}
		var before, after E
		if order <= 0 {
			before = a[0].objects[i]
			if i++; i == len(a[0].objects) {
				a, i = a[1:], 0
			}
		}
		if order >= 0 {
			after = b[0].objects[j]
			if j++; j == len(b[0].objects) {
				b, j = b[1:], 0
			}
		}
		if before != after {
			visit(before, after)
		}
	}
}

// leaves returns the branches that have objects, in order.
func (t tree[E]) leaves() (all []*branch[E]) {
	level := []*branch[E]{t.root}
	if t.root == nil {
		return nil
	}
	for level[0].objects == nil {
		var below []*branch[E]
		for _, b := range level {
			below = append(below, b.branches...)
		}
		level = below
	}
	return level
}

// find returns where in the objects key is, or would be.
func (b *branch[E]) find(key string) (at int, found bool) {
	return slices.BinarySearchFunc(b.objects, key, func(o E, key string) int { return strings.Compare(o.key(), key) })
}

// way returns the index of the branch in which key is, or would be.
func (b *branch[E]) way(key string) int {
	at, found := slices.BinarySearchFunc(b.branches, key, func(b *branch[E], key string) int { return cmp.Compare(b.least, key) })
	if found || at == 0 {
		return at
	}
	return at - 1
}

// put returns one branch, or two if the one would be too wide.
func (b *branch[E]) put(o E) []*branch[E] {
	if b.objects != nil {
		at, found := b.find(o.key())
		if found {
			objects := slices.Clone(b.objects)
			objects[at] = o
			return []*branch[E]{branchOf(objects)}
		}
		objects := with(b.objects, at, at, o)
		if len(objects) <= treeWidth {
			return []*branch[E]{branchOf(objects)}
		}
		half := cut(len(objects), at)
		return []*branch[E]{branchOf(objects[:half:half]), branchOf(slices.Clone(objects[half:]))}
	}
	at := b.way(o.key())
	branches := with(b.branches, at, at+1, b.branches[at].put(o)...)
	if len(branches) <= treeWidth {
		return []*branch[E]{branchAbove(branches)}
	}
	half := cut(len(branches), at)
	return []*branch[E]{branchAbove(branches[:half:half]), branchAbove(slices.Clone(branches[half:]))}
}

// cut returns where n objects or branches are cut in two, after one was put at an index. What grows
// at its end stays full.
func cut(n, at int) int {
	if at >= n-2 {
		return n - 2
	}
	return n / 2
}

// remove returns the branch without the object under key, which is there; nil if it becomes empty.
func (b *branch[E]) remove(key string) *branch[E] {
	if b.objects != nil {
		if len(b.objects) == 1 {
			return nil
		}
		at, _ := b.find(key)
		return branchOf(with(b.objects, at, at+1))
	}
	at := b.way(key)
	changed := b.branches[at].remove(key)
	switch {
	case changed == nil && len(b.branches) == 1:
		return nil
	case changed == nil:
		return branchAbove(with(b.branches, at, at+1))
	}
	// two neighbours that are half empty become one
	for _, near := range [...]int{at - 1, at + 1} {
		if near < 0 || near >= len(b.branches) || b.branches[near].width()+changed.width() > treeWidth/2 {
			continue
		}
		if near < at {
			return branchAbove(with(b.branches, near, at+1, joined(b.branches[near], changed)))
		}
		return branchAbove(with(b.branches, at, near+1, joined(changed, b.branches[near])))
	}
	return branchAbove(with(b.branches, at, at+1, changed))
}

func (b *branch[E]) width() int { return len(b.objects) + len(b.branches) }

// joined returns one branch of two neighbours.
func joined[E keyed](a, b *branch[E]) *branch[E] {
	if a.objects != nil {
		return branchOf(slices.Concat(a.objects, b.objects))
	}
	return branchAbove(slices.Concat(a.branches, b.branches))
}

// with returns a copy of s in which s[from:to] is replaced.
func with[E any](s []E, from, to int, by ...E) []E {
	return append(append(append(make([]E, 0, len(s)-(to-from)+len(by)), s[:from]...), by...), s[to:]...)
}

// from is [tree.from] for a branch. It returns false if yield has.
func (b *branch[E]) from(key string, yield func(E) bool) bool {
	if b.objects != nil {
		at := 0
		if key > b.least {
			at, _ = b.find(key)
		}
		for _, o := range b.objects[at:] {
			if !yield(o) {
				return false
			}
		}
		return true
	}
	at := 0
	if key > b.least {
		at = b.way(key)
	}
	for _, below := range b.branches[at:] {
		if !below.from(key, yield) {
			return false
		}
	}
	return true
}
