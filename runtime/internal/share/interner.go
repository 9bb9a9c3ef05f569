// SPDX-License-Identifier: Apache-2.0

package share

import "encoding/binary"

// interner returns equal short strings as one string. It is lossy: each string has one slot, which
// a later string may take. It serves one goroutine.
type interner struct {
	slots    []string // a power of two, or none
	seenOnce *seenSet // hashes of strings seen once, twice as many
	n        int      // strings added since the last growth
}

const (
	minInterned  = 64
	maxInterned  = 4096
	maxStringLen = 192 // bytes of the longest string
)

// get returns the string with the bytes b, which must not be empty, or false if it isn't in the
// set. A string enters the set at the second sight of its bytes.
func (w *interner) get(b []byte) (string, bool) {
	hash := hashString(b)
	if len(w.slots) > 0 {
		if s := w.slots[hash&uint64(len(w.slots)-1)]; s == string(b) {
			return s, true
		}
	}
	if w.n >= len(w.slots) && len(w.slots) < maxInterned {
		w.grow()
	}
	if !w.seenOnce.seen(hash) {
		return "", false
	}
	text := string(b)
	w.slots[hash&uint64(len(w.slots)-1)] = text
	w.n++
	return text, true
}

func (w *interner) grow() {
	old := w.slots
	w.slots = make([]string, max(minInterned, 4*len(old)))
	w.seenOnce = newSeenSet(2 * len(w.slots))
	w.n = 0
	for _, s := range old {
		if s != "" {
			w.slots[hashString([]byte(s))&uint64(len(w.slots)-1)] = s
		}
	}
}

// hashString is fast and weak: it reads the beginning, the middle and the end. Strings with the
// same hash replace each other in their slot.
func hashString(b []byte) uint64 {
	const k1, k2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	n := len(b)
	var head, mid, tail uint64
	switch {
	case n >= 8:
		head = binary.LittleEndian.Uint64(b)
		mid = binary.LittleEndian.Uint64(b[(n-8)/2:])
		tail = binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	default:
		head = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	h := (head ^ uint64(n)<<56) * k1
	h = (h ^ h>>32 ^ tail) * k2
	h = (h ^ h>>29 ^ mid) * k1
	return h ^ h>>32
}
