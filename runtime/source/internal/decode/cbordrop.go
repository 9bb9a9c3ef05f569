// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"github.com/informer-gen/informer-gen/runtime/source/internal/dropped"
)

// dropCBOR removes the dropped parts from an encoded object, in place, and returns the shorter
// object. The object must be well-formed, which reading it from the stream has ensured. An item
// that is not a map is returned unchanged.
func dropCBOR(item []byte, drop *dropped.Parts) []byte {
	e := cborEditor{item: item}
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

// cborEditor copies an item over itself, without the map entries that are dropped. Each byte is
// scanned and copied once.
type cborEditor struct {
	item  []byte
	from  int // the next byte to copy
	to    int // the end of the result; never after from
	frame cborFrame
}

// members copies the next item. If it is a map, members calls keep for each entry, after copying
// its name, and drops the entry if keep returns false. keep may copy the value by calling members
// itself; otherwise members copies it.
func (e *cborEditor) members(keep func(name string) bool) (kept, cut int) {
	h := e.head()
	for h.major == cborTag {
		e.copy(h.size)
		h = e.head()
	}
	if h.major != cborMap {
		e.copy(e.size())
		return 0, 0
	}
	head := e.to
	e.copy(h.size)
	for n := uint64(0); h.indefinite || n < h.arg; n++ {
		if h.indefinite && e.item[e.from] == cborBreak {
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
	if !h.indefinite && cut > 0 {
		e.setArg(head, h, h.arg-uint64(cut))
	}
	return kept, cut
}

// head reads the next head.
func (e *cborEditor) head() cborHead {
	initial := e.item[e.from]
	return parseHead(initial, e.item[e.from+1:e.from+1+argSize(initial)])
}

// size returns the length of the next item.
func (e *cborEditor) size() int {
	e.frame.reset()
	n, _, _ := e.frame.end(e.item[e.from:])
	return n
}

// copy copies the next n bytes to the result.
func (e *cborEditor) copy(n int) {
	copy(e.item[e.to:], e.item[e.from:e.from+n])
	e.from += n
	e.to += n
}

// name copies the next item and returns it if it is a string in one piece, else "".
func (e *cborEditor) name() string {
	h := e.head()
	for h.major == cborTag {
		e.copy(h.size)
		h = e.head()
	}
	name := ""
	if (h.major == cborBytes || h.major == cborText) && !h.indefinite {
		at := e.from + h.size
		name = string(e.item[at : at+int(h.arg)])
	}
	e.copy(e.size())
	return name
}

// setArg overwrites the number in a head, in as many bytes as before. A number that is longer than
// needed is well-formed.
func (e *cborEditor) setArg(at int, h cborHead, arg uint64) {
	if h.size == 1 {
		e.item[at] = h.major<<5 | byte(arg)
		return
	}
	for i := at + h.size - 1; i > at; i-- {
		e.item[i] = byte(arg)
		arg >>= 8
	}
}
