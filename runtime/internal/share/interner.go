// SPDX-License-Identifier: Apache-2.0

package share

import "encoding/binary"

// words is a lossy set of short strings: each has one slot, and the last one that was added has it.
// It serves one goroutine.
type words struct {
	slots []string // a power of two, or none
	marks []uint32 // of strings that were seen once, twice as many; each has two places
	n     int      // strings added since it has this size
	coins uint64   // random numbers that say which of two taken places a mark gets
}

const (
	minWords = 64
	maxWords = 4096
	maxWord  = 192 // bytes of a string
)

// get returns the string with the bytes b, which are at least one, and false if it isn't in the
// set. From the second time on that it sees the bytes, it is.
func (w *words) get(b []byte) (string, bool) {
	hash := hashWord(b)
	if len(w.slots) > 0 {
		if known := w.slots[hash&uint64(len(w.slots)-1)]; known == string(b) {
			return known, true
		}
	}
	if w.n >= len(w.slots) && len(w.slots) < maxWords {
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
func (w *words) seen(hash uint64) bool {
	at, mark := hash&uint64(len(w.marks)-2), uint32(hash>>32)|1
	if w.marks[at] == mark || w.marks[at+1] == mark {
		return true
	}
	w.coins = w.coins*0x5851f42d4c957f2d + 0x14057b7ef767814f
	w.marks[at+w.coins>>63] = mark
	return false
}

func (w *words) grow() {
	old := w.slots
	w.slots = make([]string, max(minWords, 4*len(old)))
	w.marks = make([]uint32, 2*len(w.slots))
	w.n = 0
	for _, s := range old {
		if s != "" {
			w.slots[hashWord([]byte(s))&uint64(len(w.slots)-1)] = s
		}
	}
}

// hashWord is quick, and weak: it reads the beginning, the middle and the end. Strings that it
// mixes up cost each other their slot.
func hashWord(b []byte) uint64 {
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
