// SPDX-License-Identifier: Apache-2.0

// Package btree implements the ordered map under the informers' table and the watch cache: a B-tree
// whose copies are snapshots.
package btree

import "cmp"

// maxWidth is the maximum number of entries or children of a node. One more would move slices of
// children to the allocator's next size class.
const maxWidth = 31

// Entry is an element of a Tree. Its key must not change.
type Entry[K cmp.Ordered] interface{ Key() K }

// Tree is a set of entries ordered by their unique keys. The zero Tree is empty. Copying the struct
// takes a snapshot, which never changes: Set and Delete copy the nodes between the root and the
// entry, and share all others.
//
// Both take an owner number, and change nodes made under the same number in place instead of
// copying them. So after taking a copy of the Tree to keep, the owner must use another number. The
// number 0 owns nothing.
//
// A snapshot may be read by any number of goroutines.
type Tree[K cmp.Ordered, E Entry[K]] struct{ root *node[K, E] }

// node is a leaf with entries, or has children. It has at least one of either.
type node[K cmp.Ordered, E Entry[K]] struct {
	owner    uint64
	entries  []E
	children []child[K, E] // nil in a leaf
}

type child[K cmp.Ordered, E Entry[K]] struct {
	minKey K   // the least key in the node
	count  int // of entries in the node or below
	*node[K, E]
}

// Len returns the number of entries.
func (t Tree[K, E]) Len() int {
	if t.root == nil {
		return 0
	}
	return t.root.count()
}

func (n *node[K, E]) count() int {
	all := len(n.entries)
	for i := range n.children {
		all += n.children[i].count
	}
	return all
}

// CopiedBytes estimates the memory in bytes copied by a Set or Delete, given the sizes of entries
// and keys. It assumes full nodes below the root, as in a Tree filled in order.
func (t Tree[K, E]) CopiedBytes(entry, key int64) (bytes int64) {
	const node, pointer, count = 96, 8, 8
	if t.root == nil {
		return 0
	}
	size := int64(len(t.root.entries) + len(t.root.children))
	for at := t.root; ; at = at.children[0].node {
		if at.children == nil {
			return bytes + node + size*entry
		}
		bytes += node + size*(key+count+pointer)
		size = maxWidth
	}
}

// Get returns the entry with key k, and whether there is one.
func (t Tree[K, E]) Get(k K) (e E, ok bool) {
	n := t.root
	if n == nil {
		return e, false
	}
	for n.children != nil {
		n = n.children[n.childIndex(k)].node
	}
	at, ok := n.find(k)
	if ok {
		e = n.entries[at]
	}
	return e, ok
}

// From yields the entries with key k and greater ones, in order, until yield returns false.
func (t Tree[K, E]) From(k K, yield func(E) bool) {
	if t.root != nil {
		t.root.from(k, yield)
	}
}

// All yields all entries in order until yield returns false.
func (t Tree[K, E]) All(yield func(E) bool) {
	if t.root != nil {
		t.root.all(yield)
	}
}

// Rank returns the number of entries with keys less than k.
func (t Tree[K, E]) Rank(k K) (rank int) {
	n := t.root
	if n == nil {
		return 0
	}
	for n.children != nil {
		at := n.childIndex(k)
		for i := range at {
			rank += n.children[i].count
		}
		n = n.children[at].node
	}
	at, _ := n.find(k)
	return rank + at
}

// Diff calls visit, in key order, for each entry that differs between t and u: with t's entry as
// before and u's as after. A missing one is the zero E, which must not be an entry. Leaves shared
// by the trees cost one comparison.
func Diff[K cmp.Ordered, E interface {
	comparable
	Entry[K]
}](t, u Tree[K, E], visit func(before, after E)) {
	a, b := t.leaves(), u.leaves()
	i, j := 0, 0 // indexes into the entries of the first leaves
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
			order = cmp.Compare(a[0].entries[i].Key(), b[0].entries[j].Key())
		}
		var before, after E
		if order <= 0 {
			before = a[0].entries[i]
			if i++; i == len(a[0].entries) {
				a, i = a[1:], 0
			}
		}
		if order >= 0 {
			after = b[0].entries[j]
			if j++; j == len(b[0].entries) {
				b, j = b[1:], 0
			}
		}
		if before != after {
			visit(before, after)
		}
	}
}

func (t Tree[K, E]) leaves() []*node[K, E] {
	if t.root == nil {
		return nil
	}
	level := []*node[K, E]{t.root}
	for level[0].children != nil {
		var below []*node[K, E]
		for _, n := range level {
			for _, child := range n.children {
				below = append(below, child.node)
			}
		}
		level = below
	}
	return level
}

// find returns the index of the entry with key k in a leaf, or the index at which to insert it.
func (n *node[K, E]) find(k K) (at int, found bool) {
	low, high := 0, len(n.entries)
	for low < high {
		if mid := (low + high) / 2; n.entries[mid].Key() < k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(n.entries) && n.entries[low].Key() == k
}

func (n *node[K, E]) childIndex(k K) int {
	low, high := 1, len(n.children)
	for low < high {
		if mid := (low + high) / 2; n.children[mid].minKey <= k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// from is [Tree.From] for a node. It returns false if yield did.
func (n *node[K, E]) from(k K, yield func(E) bool) bool {
	if n.children != nil {
		at := n.childIndex(k)
		if !n.children[at].from(k, yield) {
			return false
		}
		for _, child := range n.children[at+1:] {
			if !child.all(yield) {
				return false
			}
		}
		return true
	}
	at, _ := n.find(k)
	for _, e := range n.entries[at:] {
		if !yield(e) {
			return false
		}
	}
	return true
}

// all is [Tree.All] for a node.
func (n *node[K, E]) all(yield func(E) bool) bool {
	for _, child := range n.children {
		if !child.all(yield) {
			return false
		}
	}
	for _, e := range n.entries {
		if !yield(e) {
			return false
		}
	}
	return true
}
