// SPDX-License-Identifier: Apache-2.0

package table

import "math/bits"

// A tree has a fixed shape rather than a depth that grows: a root that lists forks, two levels of forks of 16, leaves.
// Nodes are small, because a Txn that changes one place copies one node of each level, and most of what that costs is
// what it allocates. The root takes 8 bytes per 256 leaves, which are 4,096 objects: it is smaller than the rest of the
// copy up to 250,000, and 2 kB at a million.
const (
	fanBits = 4
	fan     = 1 << fanBits
	fanFull = 1<<fan - 1
)

// tree is a sparse persistent array of leaves. Its zero value is empty. Copying the struct takes a snapshot; the functions
// that write get the number of the Txn that writes and change nodes in place only when they bear it.
//
// They are functions, not methods, because methods of a generic type are compiled anew in each package that mentions a
// type in which there is one: here, all packages of generated code.
type tree[L any] struct {
	owner uint64           // of root's array
	root  []*fork[fork[L]] // nil where no leaf is; the last one is not nil
}

// fork is an inner node of a tree. It has a kid.
type fork[K any] struct {
	owner uint64
	full  uint16 // bit i: kids[i] has no room
	kids  [fan]*K
}

func split(i uint32) (root, upper, lower uint32) {
	return i >> (2 * fanBits), i >> fanBits % fan, i % fan
}

// leafAt returns leaf i, which must be there.
func leafAt[L any](t *tree[L], i uint32) *L {
	r, u, l := split(i)
	return t.root[r].kids[u].kids[l]
}

// leafIfAny returns leaf i, nil if it isn't there.
func leafIfAny[L any](t *tree[L], i uint32) *L {
	r, u, l := split(i)
	if int(r) < len(t.root) {
		if upper := t.root[r]; upper != nil {
			if lower := upper.kids[u]; lower != nil {
				return lower.kids[l]
			}
		}
	}
	return nil
}

// eachLeaf yields every leaf of t with its number, in ascending order, until yield returns false.
func eachLeaf[L any](t *tree[L], yield func(i uint32, l *L) bool) {
	for r, upper := range t.root {
		if upper == nil {
			continue
		}
		for u, lower := range &upper.kids {
			if lower == nil {
				continue
			}
			for l, leaf := range &lower.kids {
				if leaf != nil && !yield(uint32((r<<fanBits+u)<<fanBits+l), leaf) {
					return
				}
			}
		}
	}
}

// placeOf returns where leaf i is, or is to be, after the nodes above it have become owner's.
func placeOf[L any](t *tree[L], owner uint64, i uint32) **L {
	r, u, l := split(i)
	ownRoot(t, owner, int(r)+1)
	upper := ownFork(owner, &t.root[r])
	lower := ownFork(owner, &upper.kids[u])
	return &lower.kids[l]
}

// dropLeaf lets go of leaf i, which must be there, and of the forks that become empty.
func dropLeaf[L any](t *tree[L], owner uint64, i uint32) {
	*placeOf(t, owner, i) = nil
	setFull(t, i, false)
	r, u, _ := split(i)
	upper := t.root[r]
	if upper.kids[u].kids != [fan]*L{} {
		return
	}
	upper.kids[u] = nil
	if upper.kids != [fan]*fork[L]{} {
		return
	}
	t.root[r] = nil
	n := len(t.root)
	for n > 0 && t.root[n-1] == nil {
		n--
	}
	t.root = t.root[:n]
}

// setFull says whether leaf i has no room. The nodes above it must be owned.
func setFull[L any](t *tree[L], i uint32, full bool) {
	r, u, l := split(i)
	upper := t.root[r]
	lower := upper.kids[u]
	lower.full &^= 1 << l
	upper.full &^= 1 << u
	if full {
		lower.full |= 1 << l
	}
	if lower.full == fanFull {
		upper.full |= 1 << u
	}
}

// leafWithRoom returns the first leaf that isn't full: its number, and nil if it isn't there. All before from must be full.
func leafWithRoom[L any](t *tree[L], from uint32) (i uint32, leaf *L) {
	for r := from >> (2 * fanBits); int(r) < len(t.root); r++ {
		upper := t.root[r]
		if upper == nil {
			return r << (2 * fanBits), nil
		}
		if upper.full == fanFull {
			continue
		}
		u := bits.TrailingZeros16(^upper.full)
		i := (r<<fanBits + uint32(u)) << fanBits
		lower := upper.kids[u]
		if lower == nil {
			return i, nil
		}
		l := bits.TrailingZeros16(^lower.full)
		return i + uint32(l), lower.kids[l]
	}
	return uint32(len(t.root)) << (2 * fanBits), nil
}

// ownRoot makes the root owner's, of length n at least.
func ownRoot[L any](t *tree[L], owner uint64, n int) {
	n = max(n, len(t.root))
	if t.owner != owner || n > cap(t.root) {
		// Room for growth only where a Txn has grown the root already: what is published is mostly exact.
		room := n
		if t.owner == owner {
			room += n / 4
		}
		root := make([]*fork[fork[L]], len(t.root), room)
		copy(root, t.root)
		t.owner, t.root = owner, root
	}
	t.root = t.root[:n]
}

// ownFork makes *at a fork that is owner's.
func ownFork[K any](owner uint64, at **fork[K]) *fork[K] {
	f := *at
	switch {
	case f == nil:
		f = &fork[K]{owner: owner}
	case f.owner != owner:
		f = &fork[K]{owner: owner, full: f.full, kids: f.kids}
	default:
		return f
	}
	*at = f
	return f
}
