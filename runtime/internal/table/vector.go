// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// A vector has three levels of fixed shape rather than a depth that grows: a root that lists branches, branches of 64
// leaves, leaves of 16 objects. The root takes 8 bytes per 1,024 objects, so copying it stays cheaper than copying
// the two nodes below it until there are 100,000, and is 8 kB at a million.
const (
	leafBits   = 4
	leafLen    = 1 << leafBits
	leafFull   = 1<<leafLen - 1
	branchBits = 6
	branchLen  = 1 << branchBits
	branchFull = 1<<branchLen - 1
)

// vector is a sparse persistent array of objects. Its zero value is empty. Copying the struct takes a snapshot; the
// methods that write get the number of the Txn that writes and change nodes in place only when they bear it.
type vector struct {
	owner uint64    // of root's array
	root  []*branch // nil where no object is; the last one is not nil
	low   uint32    // every place below it is taken
}

type branch struct {
	owner  uint64
	used   uint64 // bit i: leaves[i] is not nil
	full   uint64 // bit i: leaves[i] has no free place
	leaves [branchLen]*leaf
}

type leaf struct {
	owner uint64
	used  uint32 // bit i: objs[i] is taken
	objs  [leafLen]object.Object
}

func split(i uint32) (root, inBranch, inLeaf uint32) {
	return i >> (leafBits + branchBits), i >> leafBits % branchLen, i % leafLen
}

// at returns the object at i, which must be taken.
func (v *vector) at(i uint32) object.Object {
	r, b, l := split(i)
	return v.root[r].leaves[b].objs[l]
}

// leaves yields every leaf with the number of its first place, in ascending order.
func (v *vector) leaves(yield func(first uint32, l *leaf) bool) {
	for r, br := range v.root {
		if br == nil {
			continue
		}
		for used := br.used; used != 0; used &= used - 1 {
			b := bits.TrailingZeros64(used)
			if !yield(uint32(r<<branchBits+b)<<leafBits, br.leaves[b]) {
				return
			}
		}
	}
}

// all yields every object until yield returns false.
func (v *vector) all(yield func(object.Object) bool) {
	for _, l := range v.leaves {
		for used := l.used; used != 0; used &= used - 1 {
			if !yield(l.objs[bits.TrailingZeros32(used)]) {
				return
			}
		}
	}
}

// free returns the lowest place that isn't taken.
func (v *vector) free() uint32 {
	for r := int(v.low >> (leafBits + branchBits)); r < len(v.root); r++ {
		br := v.root[r]
		if br == nil {
			v.low = uint32(r) << (leafBits + branchBits)
			return v.low
		}
		if br.full == branchFull {
			continue
		}
		b := bits.TrailingZeros64(^br.full)
		v.low = uint32(r<<branchBits+b) << leafBits
		if l := br.leaves[b]; l != nil {
			v.low += uint32(bits.TrailingZeros32(^l.used))
		}
		return v.low
	}
	v.low = uint32(len(v.root)) << (leafBits + branchBits)
	return v.low
}

// set puts obj at i, whether the place is taken or not.
func (v *vector) set(owner uint64, i uint32, obj object.Object) {
	r, b, l := split(i)
	br := v.ownBranch(owner, r)
	lf := br.ownLeaf(owner, b)
	lf.objs[l] = obj
	lf.used |= 1 << l
	br.used |= 1 << b
	if lf.used == leafFull {
		br.full |= 1 << b
	}
}

// clear empties the place i, which must be taken, and lets go of the nodes that become empty.
func (v *vector) clear(owner uint64, i uint32) {
	r, b, l := split(i)
	v.low = min(v.low, i)
	br := v.ownBranch(owner, r)
	br.full &^= 1 << b
	if br.leaves[b].used != 1<<l {
		lf := br.ownLeaf(owner, b)
		lf.objs[l] = nil
		lf.used &^= 1 << l
		return
	}
	br.leaves[b] = nil
	br.used &^= 1 << b
	if br.used != 0 {
		return
	}
	v.root[r] = nil
	n := len(v.root)
	for n > 0 && v.root[n-1] == nil {
		n--
	}
	v.root = v.root[:n]
}

func (v *vector) ownBranch(owner uint64, r uint32) *branch {
	if n := max(int(r)+1, len(v.root)); v.owner != owner || n > len(v.root) {
		if v.owner != owner || n > cap(v.root) {
			// Room for growth only where a Txn has grown the root already: what is published is mostly exact.
			room := n
			if v.owner == owner {
				room += n / 4
			}
			root := make([]*branch, len(v.root), room)
			copy(root, v.root)
			v.owner, v.root = owner, root
		}
		v.root = v.root[:n]
	}
	br := v.root[r]
	switch {
	case br == nil:
		br = &branch{owner: owner}
	case br.owner != owner:
		c := *br
		c.owner = owner
		br = &c
	default:
		return br
	}
	v.root[r] = br
	return br
}

func (br *branch) ownLeaf(owner uint64, b uint32) *leaf {
	lf := br.leaves[b]
	switch {
	case lf == nil:
		lf = &leaf{owner: owner}
	case lf.owner != owner:
		c := *lf
		c.owner = owner
		lf = &c
	default:
		return lf
	}
	br.leaves[b] = lf
	return lf
}
