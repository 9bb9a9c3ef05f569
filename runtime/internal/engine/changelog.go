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

// change is what happened to one object. It is immutable once it is in the log.
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

// node holds the changes of one published version. Nodes form a list that only grows at its end. Each subscription points
// to its own position, so nodes that all of them have passed are garbage. The node at the end is empty: Informer.mu
// guards it until it is filled, and from then on it is immutable.
type node struct {
	changes []change
	at      time.Duration // when it was published, after Informer.epoch; 0 without metrics
	next    *node
}

// appendLocked adds a version's changes to the log and tells the subscriptions.
func (i *Informer) appendLocked(changes []change) {
	if len(changes) == 0 {
		return
	}
	i.end.changes = changes
	if i.totals != nil {
		i.end.at = i.now()
	}
	i.end.next = &node{}
	i.end = i.end.next
	for _, s := range i.subs {
		s.advance(len(changes), i.end)
	}
}
