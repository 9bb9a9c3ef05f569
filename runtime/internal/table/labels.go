// SPDX-License-Identifier: Apache-2.0

package table

import "hash/maphash"

// Labels are requirements on the labels of objects. The zero Labels is fulfilled by any.
//
// A leaf caches a signature of the labels of each of its objects: 64 bits, of which each pair of a
// key and a value sets three. An object without the bits of a pair doesn't have the pair; an object
// with the bits probably has it. So most objects without the labels are skipped without reading
// them, and reading objects is what takes a search its time. The second search that reads a leaf
// makes its signatures; a change of the leaf drops them.
type Labels struct {
	all uint64     // the bits of all pairs that are required
	any [][]uint64 // each element has the bits of some pairs, of which one is required
}

// signatures are the signatures of a leaf's objects.
type signatures [leafLen]uint64

var asked = new(signatures) // means that one search has read the leaf

// Require adds the requirement that the key has one of the values.
func (l *Labels) Require(key string, values ...string) {
	if len(values) == 1 {
		l.all |= signature(key, values[0])
		return
	}
	bits := make([]uint64, len(values))
	for i, value := range values {
		bits[i] = signature(key, value)
	}
	l.any = append(l.any, bits)
}

// may reports whether an object with this signature may fulfil the requirements.
func (l *Labels) may(signature uint64) bool {
	if signature&l.all != l.all {
		return false
	}
	for _, bits := range l.any {
		has := false
		for _, b := range bits {
			has = has || signature&b == b
		}
		if !has {
			return false
		}
	}
	return true
}

// signatures returns the signatures of the leaf's objects, or nil the first time.
func (lf *leaf) signatures() *signatures {
	switch made := lf.labels.Load(); made {
	case nil:
		lf.labels.CompareAndSwap(nil, asked)
		return nil
	case asked:
	default:
		return made
	}
	made := new(signatures)
	for i, obj := range &lf.objs {
		if obj != nil {
			for key, value := range obj.GetLabels() {
				made[i] |= signature(key, value)
			}
		}
	}
	lf.labels.Store(made)
	return made
}

func signature(key, value string) uint64 {
	h := maphash.Comparable(seed, [2]string{key, value})
	return 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63)
}
