// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/informer-gen/informer-gen/runtime/object"

// BatchSize is the largest number of objects returned by [Cursor.Next].
const BatchSize = 1 << leafBits

// Cursor iterates over a Set, some objects at a time. Loops over these are compiled into the
// calling code, and the processor fetches the next objects while it waits for one: several times as
// fast as a function called for each object. The zero Cursor is at its end. A Cursor in use must
// not be copied.
type Cursor struct {
	set   Set
	next  uint32 // the next slot
	batch [BatchSize]object.Object
}

// Start begins an iteration over s.
func (c *Cursor) Start(s Set) { c.set, c.next = s, 0 }

// Next returns the next objects, or nil at the end. Some of them may be nil. The slice must not be
// changed, and is valid until the next call.
//
//go:noinline
func (c *Cursor) Next() []object.Object {
	if c.set.content == nil {
		return nil
	}
	objects := &stateIn(c.set).objects
	if c.set.index == nil {
		return objects.nextLeaf(&c.next)
	}
	n := 0
	c.set.index.entries.From(uint64(entryOf(c.set.number, c.next)), func(e entry) bool {
		if e.number() != c.set.number || n == BatchSize {
			return false
		}
		// nil if a program changed an object in the table, which is forbidden, before it was
		// removed: its old keys stayed in the index.
		c.batch[n] = objects.get(e.slot())
		c.next = e.slot() + 1
		n++
		return true
	})
	if n == 0 {
		return nil
	}
	return c.batch[:n]
}
