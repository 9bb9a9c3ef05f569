// SPDX-License-Identifier: Apache-2.0

// Package changelog holds the changes of a table that wait for handlers. They are logged once for
// all handlers: each handler has a [Stretch] of the [Log] to read. For a handler that lags, the
// changes of a key can be merged into a [Backlog].
//
// Nothing here blocks, takes a lock or starts a goroutine; the caller orders the calls. Points in
// time are durations since a moment that the caller has chosen.
package changelog

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Type is the type of a change.
type Type uint8

// The types, as a watch calls them.
const (
	Added Type = iota + 1
	Modified
	Deleted
)

// Callback returns the name of the handler's method, for logs and errors.
func (t Type) Callback() string {
	return [...]string{"", "OnAdd", "OnUpdate", "OnDelete"}[t]
}

// Change is one change of one object. It is immutable once it is in the log. The zero Change means
// that there is none.
type Change struct {
	Type              Type
	Initial           bool          // Added: it is one of the handler's initial objects
	FinalStateUnknown bool          // Deleted
	Old               object.Object // nil if Added; the last state if Deleted
	New               object.Object // nil if Deleted
}

// Key returns the key of the object.
func (c *Change) Key() object.Key {
	if c.New != nil {
		return object.KeyOf(c.New)
	}
	return object.KeyOf(c.Old)
}

// Log is the end of a list of batches. The list grows only at its end. Each handler that has
// changes to read points to the batch of the next one, so the garbage collector frees the batches
// that all handlers have passed.
type Log struct{ end *Batch }

// New returns an empty log.
func New() Log { return Log{end: &Batch{}} }

// Batch holds the changes of one published version. The one at the end of the list is empty. Once
// it is filled it is immutable.
type Batch struct {
	changes []Change
	at      time.Duration // when it was published
	next    *Batch
	one     [1]Change // room for changes, if there is only one
}

// Append fills the batch at the end with changes that were published at a time, and returns it. It
// keeps the slice, unless that has only one change.
func (l *Log) Append(changes []Change, at time.Duration) *Batch {
	filled := l.end
	if len(changes) == 1 {
		filled.one[0] = changes[0]
		changes = filled.one[:]
	}
	filled.changes, filled.at, filled.next = changes, at, &Batch{}
	l.end = filled.next
	return filled
}

// Stretch is a part of the log: a number of changes from a position on. It does not keep batches
// alive that were read to the end. The zero Stretch is empty.
type Stretch struct {
	batch *Batch // has the next change; nil if there is none
	index int    // of the next change in the batch
	count int
}

// Len returns how many changes the stretch has.
func (s *Stretch) Len() int { return s.count }

// Extend adds a batch, which was the end of the log.
func (s *Stretch) Extend(filled *Batch) {
	if s.count == 0 {
		s.batch, s.index = filled, 0
	}
	s.count += len(filled.changes)
}

// Next returns the next change, and when it was published. There must be one.
func (s *Stretch) Next() (*Change, time.Duration) { return &s.batch.changes[s.index], s.batch.at }

// Pass moves past one change.
func (s *Stretch) Pass() {
	s.count--
	if s.index++; s.index == len(s.batch.changes) {
		s.batch, s.index = s.batch.next, 0
	}
	if s.count == 0 {
		s.batch = nil
	}
}
