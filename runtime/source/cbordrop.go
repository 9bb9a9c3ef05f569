// SPDX-License-Identifier: Apache-2.0

package source

import "slices"

// dropCBOR takes what is dropped out of an object, whose bytes it moves, and returns what is left. The object is well-formed,
// which is what reading it from the stream makes sure of; one that is no object is left as it is.
func dropCBOR(item []byte, drop *dropped) []byte {
	e := cborEditor{item: item}
	e.members(0, func(name []byte, at int) bool {
		if string(name) != "metadata" {
			return false
		}
		e.members(at, func(name []byte, at int) bool {
			switch string(name) {
			case "managedFields":
				return drop.managedFields
			case "annotations":
				if drop.annotations == nil {
					return false
				}
				kept, cut := e.members(at, func(name []byte, _ int) bool { return drop.annotations[string(name)] })
				return kept == 0 && cut > 0
			}
			return false
		})
		return false
	})
	return e.item
}

// cborEditor cuts entries out of the maps of an item in memory. Cuts are made at once; what is behind them moves.
type cborEditor struct{ item []byte }

// members walks over the entries of the map at the position at, and cuts those for which cut returns true. cut gets the
// position of the entry's value, and may edit it.
func (e *cborEditor) members(at int, cut func(name []byte, at int) bool) (kept, removed int) {
	at, h := e.value(at)
	if h.major != cborMap {
		return 0, 0
	}
	count, at := at, at+h.size
	for n := uint64(0); h.indefinite || n < h.arg; n++ {
		if h.indefinite && e.item[at] == cborBreak {
			break
		}
		value := e.end(at)
		if cut(e.name(at), value) {
			e.item = slices.Delete(e.item, at, e.end(value))
			removed++
			continue
		}
		at = e.end(value)
		kept++
	}
	if !h.indefinite && removed > 0 {
		e.setArg(count, h, h.arg-uint64(removed))
	}
	return kept, removed
}

// head reads the head at the position at.
func (e *cborEditor) head(at int) cborHead {
	initial := e.item[at]
	return parseHead(initial, e.item[at+1:at+1+argSize(initial)])
}

// value finds the head of the value at the position at, behind its tags.
func (e *cborEditor) value(at int) (int, cborHead) {
	h := e.head(at)
	for h.major == cborTag {
		at += h.size
		h = e.head(at)
	}
	return at, h
}

// name is the string at the position at, nil if it is none or comes in pieces.
func (e *cborEditor) name(at int) []byte {
	at, h := e.value(at)
	if h.major != cborBytes && h.major != cborText || h.indefinite {
		return nil
	}
	at += h.size
	return e.item[at : at+int(h.arg)]
}

// end finds the end of the item at the position at.
func (e *cborEditor) end(at int) int {
	h := e.head(at)
	at += h.size
	elements := uint64(0)
	switch h.major {
	case cborBytes, cborText:
		if !h.indefinite {
			return at + int(h.arg)
		}
	case cborArray:
		elements = h.arg
	case cborMap:
		elements = 2 * h.arg
	case cborTag:
		elements = 1
	}
	if h.indefinite && h.major != cborSimple {
		for e.item[at] != cborBreak {
			at = e.end(at)
		}
		return at + 1
	}
	for range elements {
		at = e.end(at)
	}
	return at
}

// setArg writes the number of a head again, in as many bytes as it had: longer than needed, which is well-formed.
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
