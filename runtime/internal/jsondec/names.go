// SPDX-License-Identifier: Apache-2.0

package jsondec

import "encoding/binary"

// start is the beginning of a member without white space: the name in quotes and a colon.
type start struct {
	text        string
	first, last uint64 // its first and its last eight bytes, the first of them lowest
}

func newStart(name string) start {
	s := start{text: `"` + name + `":`}
	n := len(s.text)
	var padded [8]byte
	copy(padded[:], s.text)
	s.first = binary.LittleEndian.Uint64(padded[:])
	if n >= 8 {
		s.last = binary.LittleEndian.Uint64([]byte(s.text[n-8:]))
	}
	return s
}

// name returns the name.
func (s *start) name() string { return s.text[1 : len(s.text)-2] }

// end returns the index after the start at in[i], or 0 if something else is there. It may also
// return 0 near the end of in.
func (s *start) end(in []byte, i int) int {
	n := len(s.text)
	if len(in)-i < max(n, 8) || (binary.LittleEndian.Uint64(in[i:])^s.first)<<(8*max(8-n, 0)) != 0 {
		return 0
	}
	if n > 8 && (binary.LittleEndian.Uint64(in[i+n-8:]) != s.last || n > 16 && string(in[i+8:i+n-8]) != s.text[8:n-8]) {
		return 0
	}
	return i + n
}

// names finds members by name: a hash table with open addressing, at most half full.
type names struct {
	slots []int16 // number of a member, or -1; a power of two
	shift uint
}

func newNames(members []member) names {
	n := names{shift: 62}
	for 1<<(64-n.shift) < 2*len(members) {
		n.shift--
	}
	n.slots = make([]int16, 1<<(64-n.shift))
	for i := range n.slots {
		n.slots[i] = -1
	}
	for i, m := range members {
		at := n.slot([]byte(m.start.name()))
		for n.slots[at] >= 0 {
			at = (at + 1) % len(n.slots)
		}
		n.slots[at] = int16(i)
	}
	return n
}

// find returns the number of the member with the name, or -1.
func (n *names) find(members []member, name []byte) int {
	for at := n.slot(name); ; at++ {
		i := n.slots[at&(len(n.slots)-1)]
		if i < 0 || members[i].start.name() == string(name) {
			return int(i)
		}
	}
}

// slot returns the first slot to look at for a name.
func (n *names) slot(name []byte) int { return int(hashName(name) * hashFactor >> n.shift) }

const hashFactor = 0x9e3779b97f4a7c15

// hashName returns a number that is different for most different names. Multiplied by hashFactor
// its high bits are a hash.
func hashName(name []byte) uint64 {
	hash := uint64(len(name))
	switch {
	case len(name) >= 8:
		hash ^= binary.LittleEndian.Uint64(name) ^ binary.LittleEndian.Uint64(name[len(name)-8:])*31
	case len(name) >= 4:
		hash ^= uint64(binary.LittleEndian.Uint32(name))<<32 ^ uint64(binary.LittleEndian.Uint32(name[len(name)-4:]))
	default:
		for _, c := range name {
			hash = hash<<8 ^ uint64(c)
		}
	}
	return hash
}
