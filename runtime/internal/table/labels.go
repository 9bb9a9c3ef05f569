// SPDX-License-Identifier: Apache-2.0

package table

import "hash/maphash"

// Labels is what an object's labels must have to be of interest. The zero Labels is content with
// any.
//
// A leaf remembers a signature of the labels of each of its objects, 64 bits of which each pair of
// a key and a value sets three: an object without the bits of a pair doesn't have it, and one that
// has them probably does. So most of those objects that don't have the labels are told without a
// look at them, which is what such a search takes its time for. Signatures are made by the second
// search that comes by; a leaf that is changed begins anew.
type Labels struct {
	all uint64     // the bits of every pair that there is no alternative to
	any [][]uint64 // in each, the bits of the pairs of which there must be one
}

// signatures has one for each object of a leaf.
type signatures [leafLen]uint64

var asked = new(signatures) // says that a search came by

// Require adds that the key must have one of the values.
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

// may reports whether an object with this signature may have the labels.
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

// signatures returns those of the leaf's objects, nil the first time.
func (lf *leaf) signatures() *signatures {
	switch known := lf.labels.Load(); known {
	case nil:
		lf.labels.CompareAndSwap(nil, asked)
		return nil
	case asked:
	default:
		return known
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
