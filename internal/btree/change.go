// SPDX-License-Identifier: Apache-2.0

package btree

import (
	"cmp"
	"slices"
)

// Set adds e, replacing the entry with its key.
func (t *Tree[K, E]) Set(owner uint64, e E) {
	if t.root == nil {
		t.root = &node[K, E]{owner: owner, entries: []E{e}}
		return
	}
	left, right := t.root.set(owner, e.Key(), e)
	if right != nil {
		left = &node[K, E]{owner: owner, children: []child[K, E]{newChild(left), newChild(right)}}
	}
	t.root = left
}

// Delete removes the entry with key k, and reports whether there was one.
func (t *Tree[K, E]) Delete(owner uint64, k K) bool {
	if _, ok := t.Get(k); !ok {
		return false
	}
	t.root = t.root.delete(owner, k)
	for t.root != nil && len(t.root.children) == 1 {
		t.root = t.root.children[0].node
	}
	return true
}

func newChild[K cmp.Ordered, E Entry[K]](n *node[K, E]) child[K, E] {
	return child[K, E]{n.first(), n.count(), n}
}

func (n *node[K, E]) first() K {
	if n.children != nil {
		return n.children[0].minKey
	}
	return n.entries[0].Key()
}

// own returns n if owner may change it, or a copy, with room for so many more entries.
func (n *node[K, E]) own(owner uint64, room int) *node[K, E] {
	if n.owner == owner && owner != 0 {
		return n
	}
	own := &node[K, E]{owner: owner}
	if n.children == nil {
		own.entries = append(make([]E, 0, len(n.entries)+room), n.entries...)
	} else {
		own.children = append(make([]child[K, E], 0, len(n.children)), n.children...)
	}
	return own
}

// set returns n with e, and a node of greater keys if n was split.
func (n *node[K, E]) set(owner uint64, k K, e E) (left, right *node[K, E]) {
	if n.children == nil {
		at, found := n.find(k)
		if found {
			n = n.own(owner, 0)
			n.entries[at] = e
			return n, nil
		}
		n = n.own(owner, 1)
		n.entries = slices.Insert(n.entries, at, e)
		return n.split(at, len(n.entries))
	}
	n = n.own(owner, 0)
	at := n.childIndex(k)
	left, right = n.children[at].set(owner, k, e)
	n.children[at] = newChild(left)
	if right != nil {
		at++
		n.children = slices.Insert(n.children, at, newChild(right))
	}
	return n.split(at, len(n.children))
}

// split halves n, owned by the caller, if the insert at an index has made it too large. A node
// growing at its end is cut there, so that the left half stays full.
func (n *node[K, E]) split(at, size int) (left, right *node[K, E]) {
	if size <= maxWidth {
		return n, nil
	}
	cut := size / 2
	if at == size-1 {
		cut = at
	}
	right = &node[K, E]{owner: n.owner}
	if n.children == nil {
		right.entries, n.entries = slices.Clone(n.entries[cut:]), slices.Delete(n.entries, cut, size)
	} else {
		right.children, n.children = slices.Clone(n.children[cut:]), slices.Delete(n.children, cut, size)
	}
	return n, right
}

// delete returns n without its entry with key k, or nil if none is left.
func (n *node[K, E]) delete(owner uint64, k K) *node[K, E] {
	if len(n.entries) == 1 {
		return nil
	}
	n = n.own(owner, 0)
	if n.children == nil {
		at, _ := n.find(k)
		n.entries = slices.Delete(n.entries, at, at+1)
		return n
	}
	at := n.childIndex(k)
	left := n.children[at].delete(owner, k)
	if left == nil {
		if n.children = slices.Delete(n.children, at, at+1); len(n.children) == 0 {
			return nil
		}
		return n
	}
	n.children[at] = newChild(left)
	if at > 0 && n.join(at-1) {
		return n
	}
	n.join(at)
	return n
}

// join merges the child at an index with the next one if both are small, and reports whether it
// did.
func (n *node[K, E]) join(at int) bool {
	if at+1 >= len(n.children) {
		return false
	}
	left, right := n.children[at].node, n.children[at+1].node
	if len(left.entries)+len(left.children)+len(right.entries)+len(right.children) > maxWidth/2 {
		return false
	}
	left = left.own(n.owner, len(right.entries))
	left.entries, left.children = append(left.entries, right.entries...), append(left.children, right.children...)
	n.children[at] = newChild(left)
	n.children = slices.Delete(n.children, at+1, at+2)
	return true
}
