// SPDX-License-Identifier: Apache-2.0

package cborwire

import (
	"math"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
)

// Drop removes the dropped parts from an encoded object, in place, and returns the shorter object.
// The object must be well-formed, which Frame.End has ensured. An item that is not a map is
// returned unchanged.
func Drop(item []byte, drop *dropped.Parts) []byte {
	e := editor{item: item}
	e.members(func(name string) bool {
		if name != "metadata" {
			return true
		}
		e.members(func(name string) bool {
			switch {
			case name == "managedFields":
				return !drop.ManagedFields
			case name == "annotations" && drop.Annotations != nil:
				kept, cut := e.members(func(name string) bool { return !drop.Annotations[name] })
				return kept > 0 || cut == 0
			}
			return true
		})
		return true
	})
	return e.item[:e.to]
}

// editor copies an item over itself, without the map entries that are dropped. Each byte is scanned
// and copied once.
type editor struct {
	item  []byte
	from  int // the next byte to copy
	to    int // the end of the result; never after from
	frame Frame
}

// members copies the next item. If it is a map, members calls keep for each entry, after copying
// its name, and drops the entry if keep returns false. keep may copy the value by calling members
// itself; otherwise members copies it.
func (e *editor) members(keep func(name string) bool) (kept, cut int) {
	h := e.head()
	for h.Major == Tag {
		e.copy(h.Size)
		h = e.head()
	}
	if h.Major != Map {
		e.copy(e.size())
		return 0, 0
	}
	head := e.to
	e.copy(h.Size)
	for n := uint64(0); h.Indefinite || n < h.Arg; n++ {
		if h.Indefinite && e.item[e.from] == Break {
			e.copy(1)
			break
		}
		before := e.to
		name := e.name()
		value := e.from
		if !keep(name) {
			if e.from == value {
				e.from += e.size()
			}
			e.to = before
			cut++
			continue
		}
		if e.from == value {
			e.copy(e.size())
		}
		kept++
	}
	if !h.Indefinite && cut > 0 {
		e.setArg(head, h, h.Arg-uint64(cut))
	}
	return kept, cut
}

// head reads the next head.
func (e *editor) head() Head {
	initial := e.item[e.from]
	return parseHead(initial, e.item[e.from+1:e.from+1+argSize(initial)])
}

// size returns the length of the next item.
func (e *editor) size() int {
	e.frame.Reset()
	n, _, _ := e.frame.End(e.item[e.from:], math.MaxInt64)
	return n
}

// copy copies the next n bytes to the result.
func (e *editor) copy(n int) {
	copy(e.item[e.to:], e.item[e.from:e.from+n])
	e.from += n
	e.to += n
}

// name copies the next item and returns it if it is a string in one piece, else "".
func (e *editor) name() string {
	h := e.head()
	for h.Major == Tag {
		e.copy(h.Size)
		h = e.head()
	}
	name := ""
	if (h.Major == Bytes || h.Major == Text) && !h.Indefinite {
		at := e.from + h.Size
		name = string(e.item[at : at+int(h.Arg)])
	}
	e.copy(e.size())
	return name
}

// setArg overwrites the number in a head, in as many bytes as before. A number that is longer than
// needed is well-formed.
func (e *editor) setArg(at int, h Head, arg uint64) {
	if h.Size == 1 {
		e.item[at] = h.Major<<5 | byte(arg)
		return
	}
	for i := at + h.Size - 1; i > at; i-- {
		e.item[i] = byte(arg)
		arg >>= 8
	}
}
