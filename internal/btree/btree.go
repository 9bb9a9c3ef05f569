// SPDX-License-Identifier: Apache-2.0

// Package btree has the ordered structure under the informers' table and under the watch cache: a
// B-tree of which each copy is a snapshot.
package btree

import "cmp"

// width is how many entries or children a node has at most. With one more, slices of children would
// be of the allocator's next larger size.
const width = 31

// Entry is an element of a Tree. Its key must not change.
type Entry[K cmp.Ordered] interface{ Key() K }

// Tree is a set of entries in the order of their keys, which are unique. The zero Tree is empty.
// Copying the struct takes a snapshot, which never changes: Set and Delete copy the nodes between
// the root and the entry, and share all others.
//
// Both take the number of an owner. They change nodes that were made under the same number in place
// instead of copying them, so the owner must use another number after it has taken a copy of the
// Tree that is to stay as it is. The number 0 owns nothing.
//
// A snapshot may be read by any number of goroutines.
type Tree[K cmp.Ordered, E Entry[K]] struct{ root *node[K, E] }

// node is a leaf, which has entries, or has children. It has at least one of either.
type node[K cmp.Ordered, E Entry[K]] struct {
	owner    uint64
	entries  []E
	children []child[K, E] // nil in a leaf
}

type child[K cmp.Ordered, E Entry[K]] struct {
	least K   // the least key in the node
	count int // of entries in the node or below
	*node[K, E]
}

// Len returns the number of entries.
func (t Tree[K, E]) Len() int {
	if t.root == nil {
		return 0
	}
	return t.root.count()
}

// count returns the number of entries in n or below.
func (n *node[K, E]) count() int {
	all := len(n.entries)
	for i := range n.children {
		all += n.children[i].count
	}
	return all
}

// CopiedBytes returns about how many bytes of memory a Set or a Delete copies, where entries and
// keys have the given sizes. It takes all nodes but the root for full, as they are in a Tree whose
// entries were set in order.
func (t Tree[K, E]) CopiedBytes(entry, key int64) (bytes int64) {
	const node, pointer, count = 96, 8, 8
	if t.root == nil {
		return 0
	}
	wide := int64(len(t.root.entries) + len(t.root.children))
	for at := t.root; ; at = at.children[0].node {
		if at.children == nil {
			return bytes + node + wide*entry
		}
		bytes += node + wide*(key+count+pointer)
		wide = width
	}
}

// Get returns the entry with key k, and whether there is one.
func (t Tree[K, E]) Get(k K) (e E, ok bool) {
	n := t.root
	if n == nil {
		return e, false
	}
	for n.children != nil {
		n = n.children[n.child(k)].node
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
		at := n.child(k)
		for i := range at {
			rank += n.children[i].count
		}
		n = n.children[at].node
	}
	at, _ := n.find(k)
	return rank + at
}

// Diff calls visit for each entry that is not the same in both trees, in the order of keys: with
// before as it is in t, and with after as it is in u. One of them may be the zero E, which must not
// be an entry. Leaves that the trees share cost one comparison.
func Diff[K cmp.Ordered, E interface {
	comparable
	Entry[K]
}](t, u Tree[K, E], visit func(before, after E)) {
	a, b := t.leaves(), u.leaves()
	i, j := 0, 0 // of the entries of the first leaves
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

// leaves returns the leaves in order.
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

// find returns the index at which the entry with key k is, or would be, in a leaf.
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

// child returns the index of the child in which k is, or would be.
func (n *node[K, E]) child(k K) int {
	low, high := 1, len(n.children)
	for low < high {
		if mid := (low + high) / 2; n.children[mid].least <= k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// from is [Tree.From] for a node. It returns false if yield has.
func (n *node[K, E]) from(k K, yield func(E) bool) bool {
	if n.children != nil {
		at := n.child(k)
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

// all is [Tree.All] for a node. It returns false if yield has.
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
