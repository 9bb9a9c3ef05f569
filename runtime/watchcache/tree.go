// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"cmp"
	"slices"
	"strings"
)

// treeWidth is how many objects or branches a branch has at most.
const treeWidth = 32

// tree is a persistent set of objects in the order of their keys: a B-tree whose branches are never
// changed. Copying the struct takes a snapshot. The zero tree is empty.
//
// To put an object or to remove one: copy the branches on the way to it, from the root down, and
// change the copies. Two trees share all other branches. So each change of the log can hold the
// whole state after it, and a list begins at any key of it.
//
// The table of package internal/table would take less memory for a change, but it is hashed: it
// could neither list in the order of keys nor begin a page in the middle.
type tree struct{ root *branch }

// branch is a part of a tree. It has either objects or branches, at least one.
type branch struct {
	least    string // key
	count    int    // of the objects below
	objects  []*Object
	branches []*branch
}

// treeOf returns a tree of objects, which must be in order and have different keys.
func treeOf(objects []*Object) tree {
	var level []*branch
	for part := range slices.Chunk(objects, treeWidth) {
		level = append(level, branchOf(slices.Clone(part)))
	}
	for len(level) > 1 {
		var above []*branch
		for part := range slices.Chunk(level, treeWidth) {
			above = append(above, branchAbove(slices.Clone(part)))
		}
		level = above
	}
	if len(level) == 0 {
		return tree{}
	}
	return tree{level[0]}
}

func branchOf(objects []*Object) *branch {
	return &branch{least: objects[0].Key, count: len(objects), objects: objects}
}

func branchAbove(branches []*branch) *branch {
	b := &branch{least: branches[0].least, branches: branches}
	for _, below := range branches {
		b.count += below.count
	}
	return b
}

// len returns the number of objects.
func (t tree) len() int {
	if t.root == nil {
		return 0
	}
	return t.root.count
}

// get returns the object under key, or nil.
func (t tree) get(key string) *Object {
	b := t.root
	if b == nil {
		return nil
	}
	for b.objects == nil {
		b = b.branches[b.way(key)]
	}
	if at, found := b.find(key); found {
		return b.objects[at]
	}
	return nil
}

// put returns the tree with o under its key.
func (t tree) put(o *Object) tree {
	if t.root == nil {
		return tree{branchOf([]*Object{o})}
	}
	switch parts := t.root.put(o); len(parts) {
	case 1:
		return tree{parts[0]}
	default:
		return tree{branchAbove(parts)}
	}
}

// remove returns the tree without the object under key.
func (t tree) remove(key string) tree {
	if t.get(key) == nil {
		return t
	}
	root := t.root.remove(key)
	for root != nil && len(root.branches) == 1 {
		root = root.branches[0]
	}
	return tree{root}
}

// rank returns how many objects have a key less than key.
func (t tree) rank(key string) (n int) {
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
func (t tree) from(key string, yield func(*Object) bool) {
	if t.root != nil {
		t.root.from(key, yield)
	}
}

// all yields all objects until yield returns false.
func (t tree) all(yield func(*Object) bool) { t.from("", yield) }

// find returns where in the objects key is, or would be.
func (b *branch) find(key string) (at int, found bool) {
	return slices.BinarySearchFunc(b.objects, key, func(o *Object, key string) int { return strings.Compare(o.Key, key) })
}

// way returns the index of the branch in which key is, or would be.
func (b *branch) way(key string) int {
	at, found := slices.BinarySearchFunc(b.branches, key, func(b *branch, key string) int { return cmp.Compare(b.least, key) })
	if found || at == 0 {
		return at
	}
	return at - 1
}

// put returns one branch, or two if the one would be too wide.
func (b *branch) put(o *Object) []*branch {
	if b.objects != nil {
		at, found := b.find(o.Key)
		if found {
			objects := slices.Clone(b.objects)
			objects[at] = o
			return []*branch{branchOf(objects)}
		}
		objects := with(b.objects, at, at, o)
		if len(objects) <= treeWidth {
			return []*branch{branchOf(objects)}
		}
		half := cut(len(objects), at)
		return []*branch{branchOf(objects[:half:half]), branchOf(slices.Clone(objects[half:]))}
	}
	at := b.way(o.Key)
	branches := with(b.branches, at, at+1, b.branches[at].put(o)...)
	if len(branches) <= treeWidth {
		return []*branch{branchAbove(branches)}
	}
	half := cut(len(branches), at)
	return []*branch{branchAbove(branches[:half:half]), branchAbove(slices.Clone(branches[half:]))}
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
func (b *branch) remove(key string) *branch {
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

func (b *branch) width() int { return len(b.objects) + len(b.branches) }

// joined returns one branch of two neighbours.
func joined(a, b *branch) *branch {
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
func (b *branch) from(key string, yield func(*Object) bool) bool {
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
