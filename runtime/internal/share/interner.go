// SPDX-License-Identifier: Apache-2.0

package share

import "encoding/binary"

// interner is a lossy set of short strings: each has one slot, and the last one that was added has it.
// It serves one goroutine.
type interner struct {
	slots []string // a power of two, or none
	once  []uint32 // of strings that were seen once, twice as many; each has two places
	n     int      // strings added since it has this size
	coins uint64   // random numbers that say which of two taken places a mark gets
}

const (
	minInterned  = 64
	maxInterned  = 4096
	maxStringLen = 192 // bytes of a string
)

// get returns the string with the bytes b, which are at least one, and false if it isn't in the
// set. From the second time on that it sees the bytes, it is.
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
	if !w.seen(hash) {
		return "", false
	}
	text := string(b)
	w.slots[hash&uint64(len(w.slots)-1)] = text
	w.n++
	return text, true
}

// seen reports whether the hash was seen, and notes it. Chance decides which of two places it
// takes, so that strings that come in turns don't drive each other out forever.
func (w *interner) seen(hash uint64) bool {
	at, mark := hash&uint64(len(w.once)-2), uint32(hash>>32)|1
	if w.once[at] == mark || w.once[at+1] == mark {
		return true
	}
	w.coins = w.coins*0x5851f42d4c957f2d + 0x14057b7ef767814f
	w.once[at+w.coins>>63] = mark
	return false
}

func (w *interner) grow() {
	old := w.slots
	w.slots = make([]string, max(minInterned, 4*len(old)))
	w.once = make([]uint32, 2*len(w.slots))
	w.n = 0
	for _, s := range old {
		if s != "" {
			w.slots[hashString([]byte(s))&uint64(len(w.slots)-1)] = s
		}
	}
}

// hashString is quick, and weak: it reads the beginning, the middle and the end. Strings that it
// mixes up cost each other their slot.
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
