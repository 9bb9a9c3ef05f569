// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// changeType is the type of a change: Added, Modified or Deleted, as a watch calls it.
type changeType uint8

const (
	added changeType = iota + 1
	modified
	deleted
)

// callback returns the name of the handler's method, for logs and errors.
func (t changeType) callback() string {
	return [...]string{"", "OnAdd", "OnUpdate", "OnDelete"}[t]
}

// change is one change of one object. It is immutable once it is in the log. The zero change means
// that there is none.
type change struct {
	typ               changeType
	initial           bool          // added: it is one of the handler's initial objects
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

// node holds the changes of one published version. The nodes form a linked list that grows only at
// its end. Each subscription that has changes to read points to the node of the next one, so the
// garbage collector frees the nodes that all subscriptions have passed. The node at the end is
// empty. Once it is filled it is immutable.
type node struct {
	changes []change
	at      time.Duration // when it was published, since Informer.epoch
	next    *node
	one     [1]change // room for changes, if there is only one
}

// changeLog is the end of the list of nodes.
type changeLog struct{ end *node }

// append fills the node at the end with changes, and returns it. It keeps the slice, unless that
// has only one change.
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

// stretch is a part of the log: count changes from a position on. It does not keep nodes alive that
// were read to the end. The zero stretch is empty.
type stretch struct {
	node  *node // has the next change; nil if there is none
	index int   // of the next change in the node
	count int   // how many changes it has
}

// extend adds a node, which was the end of the log.
func (t *stretch) extend(filled *node) {
	if t.count == 0 {
		t.node, t.index = filled, 0
	}
	t.count += len(filled.changes)
}

// next returns the next change, and when it was published.
func (t *stretch) next() (*change, time.Duration) { return &t.node.changes[t.index], t.node.at }

// pass moves past one change.
func (t *stretch) pass() {
	t.count--
	if t.index++; t.index == len(t.node.changes) {
		t.node, t.index = t.node.next, 0
	}
	if t.count == 0 {
		t.node = nil
	}
}
