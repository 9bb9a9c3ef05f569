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

// node holds the changes of one published version. Nodes form a list that only grows at its end. Each subscription that has
// something to read in the log points to its own position, so nodes that all of them have passed are garbage. The node at the
// end is empty: Informer.mu guards it until it is filled, and from then on it is immutable.
type node struct {
	changes []change
	at      time.Duration // when it was published, after Informer.epoch
	next    *node
	one     [1]change // room for changes, if it is one
}

// appendLocked tells the subscriptions of a version's changes: by the log, or, if it is one change, by handing it to those for
// which nothing else waits, so that an event that comes alone needs no log. It says whether the log has kept the slice.
func (i *Informer) appendLocked(changes []change) (kept bool) {
	if len(changes) == 0 || len(i.subs) == 0 {
		return false
	}
	at, alone := i.now(), len(changes) == 1
	if alone && i.crew.hand(&changes[0], at, i.subs) == 0 {
		return false
	}
	filled := i.fillLocked(changes, at)
	for _, s := range i.subs {
		if alone && s.handed {
			continue
		}
		s.mu.Lock()
		if !s.removed { // else what follows does not reach it
			s.advanceLocked(filled)
		}
		s.mu.Unlock()
		if alone {
			i.crew.notify(s)
		}
	}
	if !alone {
		i.crew.notify(i.subs...)
	}
	return !alone
}

// fillLocked adds changes to the log, which keeps the slice unless it is one change.
func (i *Informer) fillLocked(changes []change, at time.Duration) *node {
	filled := i.end
	if len(changes) == 1 {
		filled.one[0] = changes[0]
		changes = filled.one[:]
	}
	filled.changes, filled.at, filled.next = changes, at, &node{}
	i.end = filled.next
	return filled
}
