// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/informer-gen/informer-gen/runtime/object"

// AtOnce is the largest number of objects that [Cursor.Next] returns.
const AtOnce = 1 << leafBits

// Cursor iterates over a Set, some objects at a time. Loops over these are compiled into the
// calling code, and the processor fetches the next objects while it waits for one. So they are
// several times as fast as a function called for each object. The zero Cursor is at its end. A
// Cursor must not be copied once it has begun.
type Cursor struct {
	set  Set
	from uint32 // the next slot
	room [AtOnce]object.Object
}

// Start begins an iteration over s.
func (c *Cursor) Start(s Set) { c.set, c.from = s, 0 }

// Next returns the next objects, or nil at the end. There may be nils among them. The slice must
// not be changed, and is valid until the next call.
//
//go:noinline
func (c *Cursor) Next() []object.Object {
	if c.set.content == nil {
		return nil
	}
	objects := &stateIn(c.set).objects
	if c.set.index == nil {
		return objects.leaf(&c.from)
	}
	n := 0
	c.set.index.entries.From(uint64(entryOf(c.set.number, c.from)), func(e entry) bool {
		if e.number() != c.set.number || n == AtOnce {
			return false
		}
		// There is no object if a program has changed one in the table, which is forbidden, and has
		// then removed it: its old keys stayed in the index.
		c.room[n] = objects.get(e.slot())
		c.from = e.slot() + 1
		n++
		return true
	})
	if n == 0 {
		return nil
	}
	return c.room[:n]
}
