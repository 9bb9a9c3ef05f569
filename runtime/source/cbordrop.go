// SPDX-License-Identifier: Apache-2.0

package source

// dropCBOR takes what is dropped out of an object, whose bytes it moves, and returns what is left.
// The object is well-formed, which is what reading it from the stream makes sure of; one that is no
// object is left as it is.
func dropCBOR(item []byte, drop *dropped) []byte {
	e := cborEditor{item: item}
	e.members(func(name string) bool {
		if name != "metadata" {
			return true
		}
		e.members(func(name string) bool {
			switch {
			case name == "managedFields":
				return !drop.managedFields
			case name == "annotations" && drop.annotations != nil:
				kept, cut := e.members(func(name string) bool { return !drop.annotations[name] })
				return kept > 0 || cut == 0
			}
			return true
		})
		return true
	})
	return e.item[:e.to]
}

// cborEditor copies an item over itself, without the entries of maps that are not kept. Each byte
// is looked at and copied once.
type cborEditor struct {
	item  []byte
	from  int // what comes next
	to    int // the end of what is kept; not after from
	frame cborFrame
}

// members copies the item that is next. If it is a map, keep is called for each entry after its
// name was copied, and the entry is left out if it returns false. keep may copy the value by a call
// of members; else members does.
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

// head reads the head that is next.
func (e *cborEditor) head() cborHead {
	initial := e.item[e.from]
	return parseHead(initial, e.item[e.from+1:e.from+1+argSize(initial)])
}

// size is the length of the item that is next.
func (e *cborEditor) size() int {
	e.frame.reset()
	n, _, _ := e.frame.end(e.item[e.from:])
	return n
}

// copy keeps the next n bytes.
func (e *cborEditor) copy(n int) {
	copy(e.item[e.to:], e.item[e.from:e.from+n])
	e.from += n
	e.to += n
}

// name copies the item that is next, and returns the string that it is, "" if it is none or comes
// in pieces.
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

// setArg writes the number of a head again, in as many bytes as it had: longer than needed, which
// is well-formed.
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
