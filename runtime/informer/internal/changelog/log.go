// SPDX-License-Identifier: Apache-2.0

// Package changelog holds the changes of a table that wait for handlers. They are logged once for
// all handlers: each handler has a [Cursor] in the [Log]. For a handler that lags, the changes of a
// key can be merged into a [Backlog].
//
// Nothing here blocks, takes a lock or starts a goroutine. The log has one writer at a time. A
// cursor may be read while the log grows. Points in time are durations since a moment chosen by the
// caller.
package changelog

import (
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Change is one change of one object, immutable once it is in the log. The zero Change means none.
type Change struct {
	Type              deltafifo.Type // Added, Modified or Deleted
	Initial           bool           // Added: one of the handler's initial objects
	FinalStateUnknown bool           // Deleted
	Old               object.Object  // nil if Added; the last state if Deleted
	New               object.Object  // nil if Deleted
}

// Key returns the key of the object.
func (c *Change) Key() object.Key {
	if c.New != nil {
		return object.KeyOf(c.New)
	}
	return object.KeyOf(c.Old)
}

// Callback returns the name of the handler's method, for logs and errors.
func (c *Change) Callback() string {
	switch c.Type {
	case deltafifo.Added:
		return "OnAdd"
	case deltafifo.Modified:
		return "OnUpdate"
	case deltafifo.Deleted:
		return "OnDelete"
	}
	return ""
}

// Log is the end of a list of batches, which grows only at its end. Each handler points to the
// batch of its next change, so the garbage collector frees batches that all handlers have passed.
type Log struct{ end *batch }

// batch holds the changes of one published version. The last batch of the list is empty. Once next
// is set, the batch is immutable.
type batch struct {
	before  int64 // number of changes logged before it
	changes []Change
	at      time.Duration // when it was published
	next    atomic.Pointer[batch]
}

// New returns an empty log.
func New() Log { return Log{end: &batch{}} }

// Append adds changes published at a time. It keeps the slice.
func (l *Log) Append(changes []Change, at time.Duration) {
	filled := l.end
	filled.changes, filled.at = changes, at
	l.end = &batch{before: filled.before + int64(len(changes))}
	filled.next.Store(l.end)
}

// Len returns the number of changes ever logged.
func (l *Log) Len() int64 { return l.end.before }

// End returns a cursor behind the last change.
func (l *Log) End() Cursor { return Cursor{batch: l.end} }

// Cursor is a position in the log. It keeps no passed batch alive. The zero Cursor has passed
// nothing.
type Cursor struct {
	batch *batch
	index int // of the next change in the batch
}

// Passed returns the number of changes before the cursor.
func (c *Cursor) Passed() int64 {
	if c.batch == nil {
		return 0
	}
	return c.batch.before + int64(c.index)
}

// Next returns the change at the cursor, and when it was published; nil at the end of the log.
func (c *Cursor) Next() (*Change, time.Duration) {
	if c.batch.next.Load() == nil {
		return nil, 0
	}
	return &c.batch.changes[c.index], c.batch.at
}

// Pass moves past one change. There must be one.
func (c *Cursor) Pass() {
	if c.index++; c.index == len(c.batch.changes) {
		c.batch, c.index = c.batch.next.Load(), 0
	}
}
