// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// kind says what a change is.
type kind uint8

const (
	added kind = iota + 1
	updated
	deleted
)

// callback returns the name of the handler's method, for logs and errors.
func (k kind) callback() string {
	return [...]string{"", "OnAdd", "OnUpdate", "OnDelete"}[k]
}

// change is what happened to one object. It is immutable once it is in the log. The zero change is
// none.
type change struct {
	kind              kind
	initial           bool          // added: it was there when the handler began
	finalStateUnknown bool          // deleted
	old               object.Object // nil if added; the last state if deleted
	new               object.Object // nil if deleted
}

func (c *change) key() object.Key {
	if c.new != nil {
		return object.KeyOf(c.new)
	}
	return object.KeyOf(c.old)
}

// node holds the changes of one published version. Nodes form a list that only grows at its end.
// Each subscription that has something to read in the log points to its own position, so nodes that
// all of them have passed are garbage. The node at the end is empty; it is immutable once it is
// filled.
type node struct {
	changes []change
	at      time.Duration // when it was published, after Informer.epoch
	next    *node
	one     [1]change // room for changes, if it is one
}

// changeLog is the end of the list of nodes.
type changeLog struct{ end *node }

// append fills the node at the end, and returns it. It keeps the slice unless it is one change.
func (l *changeLog) append(changes []change, at time.Duration) *node {
	filled := l.end
	if len(changes) == 1 {
		filled.one[0] = changes[0]
		changes = filled.one[:]
	}
	filled.changes, filled.at, filled.next = changes, at, &node{}
	l.end = filled.next
	return filled
}

// stretch is a part of the log: so many changes from a position on. It does not keep nodes that
// were read to the end. The zero stretch is empty.
type stretch struct {
	node  *node // has the next change; nil if there is none
	index int   // of that in the node
	left  int   // changes
}

// extend adds a node, which was the end of the log.
func (t *stretch) extend(filled *node) {
	if t.left == 0 {
		t.node, t.index = filled, 0
	}
	t.left += len(filled.changes)
}

// next returns the next change, and when it was published.
func (t *stretch) next() (*change, time.Duration) { return &t.node.changes[t.index], t.node.at }

// pass moves on by one change.
func (t *stretch) pass() {
	t.left--
	if t.index++; t.index == len(t.node.changes) {
		t.node, t.index = t.node.next, 0
	}
	if t.left == 0 {
		t.node = nil
	}
}
