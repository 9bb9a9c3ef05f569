// SPDX-License-Identifier: Apache-2.0

package table

// Changes collects the effects of one write on one index. An [Index] fills it.
type Changes struct {
	leave, enter []change
}

type change struct {
	hash uint32
	key  any
}

// Leave records a former key of the object. Duplicates are fine. hash is Hash of the typed key.
func (c *Changes) Leave(hash uint32, key any) { c.leave = appendChange(c.leave, hash, key) }

// Enter records a new key of the object. Duplicates are fine. hash is Hash of the typed key.
func (c *Changes) Enter(hash uint32, key any) { c.enter = appendChange(c.enter, hash, key) }

func appendChange(s []change, hash uint32, key any) []change {
	// A key unequal to itself, such as a NaN or a struct with one, could never be found or removed.
	if self := key; self != key {
		return s
	}
	return append(s, change{hash, key})
}

// DropEnters drops the keys recorded by Enter, for an [Index] whose function panics between two of
// its keys.
func (c *Changes) DropEnters() {
	clear(c.enter)
	c.enter = c.enter[:0]
}

// Reset empties c, and keeps nothing alive through the capacity of its slices.
func (c *Changes) Reset() {
	if len(c.leave)+len(c.enter) == 0 {
		return
	}
	clear(c.leave)
	clear(c.enter)
	c.leave, c.enter = c.leave[:0], c.enter[:0]
}
