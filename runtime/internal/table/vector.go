// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Leaves of 8 would make an update cheaper by 144 bytes, and iterating over everything much slower.
const (
	leafBits = 4
	leafLen  = 1 << leafBits
	leafFull = 1<<leafLen - 1
)

// vector is a sparse persistent array of objects: a tree whose leaves have 16. Its zero value is empty; copying the
// struct takes a snapshot.
type vector struct {
	leaves tree[leaf]
	low    uint32 // every place below it is taken
}

type leaf struct {
	owner uint64
	used  uint16 // bit i: objs[i] is taken; at least one is
	objs  [leafLen]object.Object
}

// at returns the object at i, which must be taken.
func (v *vector) at(i uint32) object.Object {
	return leafAt(&v.leaves, i>>leafBits).objs[i%leafLen]
}

// get returns the object at i, nil if there is none.
func (v *vector) get(i uint32) object.Object {
	if lf := leafIfAny(&v.leaves, i>>leafBits); lf != nil {
		return lf.objs[i%leafLen]
	}
	return nil
}

// all yields every object until yield returns false.
func (v *vector) all(yield func(object.Object) bool) {
	eachLeaf(&v.leaves, func(_ uint32, lf *leaf) bool {
		for _, obj := range &lf.objs {
			if obj != nil && !yield(obj) {
				return false
			}
		}
		return true
	})
}

// places yields every object with its place until yield returns false.
func (v *vector) places(yield func(uint32, object.Object) bool) {
	eachLeaf(&v.leaves, func(i uint32, lf *leaf) bool {
		for l, obj := range &lf.objs {
			if obj != nil && !yield(i<<leafBits+uint32(l), obj) {
				return false
			}
		}
		return true
	})
}

// free returns the lowest place that isn't taken.
func (v *vector) free() uint32 {
	i, lf := leafWithRoom(&v.leaves, v.low>>leafBits)
	v.low = i << leafBits
	if lf != nil {
		v.low += uint32(bits.TrailingZeros16(^lf.used))
	}
	return v.low
}

// set puts obj at i, whether the place is taken or not.
func (v *vector) set(owner uint64, i uint32, obj object.Object) {
	lf := ownLeaf(owner, placeOf(&v.leaves, owner, i>>leafBits))
	lf.objs[i%leafLen] = obj
	if bit := uint16(1) << (i % leafLen); lf.used&bit == 0 {
		lf.used |= bit
		setFull(&v.leaves, i>>leafBits, lf.used == leafFull)
	}
}

// clear empties the place i, which must be taken.
func (v *vector) clear(owner uint64, i uint32) {
	v.low = min(v.low, i)
	at, bit := placeOf(&v.leaves, owner, i>>leafBits), uint16(1)<<(i%leafLen)
	if (*at).used == bit {
		dropLeaf(&v.leaves, owner, i>>leafBits)
		return
	}
	lf := ownLeaf(owner, at)
	lf.objs[i%leafLen] = nil
	lf.used &^= bit
	setFull(&v.leaves, i>>leafBits, false)
}

// ownLeaf makes *at a leaf that is owner's.
func ownLeaf(owner uint64, at **leaf) *leaf {
	lf := *at
	switch {
	case lf == nil:
		lf = &leaf{owner: owner}
	case lf.owner != owner:
		lf = &leaf{owner: owner, used: lf.used, objs: lf.objs}
	default:
		return lf
	}
	*at = lf
	return lf
}
