// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"sync/atomic"
	"time"
)

// decodeLoad counts the goroutines that decode much at the moment, of all streams that share it.
// While there are as many as processors, each stream is decoded by its own goroutine alone. That is
// the least work: ends needn't be found before items are decoded, and nothing is handed over to
// another goroutine. A nil decodeLoad has room for any number.
type decodeLoad struct {
	streams atomic.Int32 // each with the goroutine that reads it
	helpers atomic.Int32
	// when the streams alone last used all processors, as time since the program began; 0: never
	lastFull atomic.Int64
}

// processLoad is the load of all streams of the program.
var processLoad decodeLoad

var programBegan = time.Now()

// quietPeriod is how long there must have been room before a helper is added. It is longer than a
// decoding stream waits for its next bytes or its next page.
const quietPeriod = 2 * time.Millisecond

// addStream counts a stream. With limit of them all processors are used.
func (l *decodeLoad) addStream(limit int) {
	if l != nil && int(l.streams.Add(1)) >= limit {
		l.lastFull.Store(int64(time.Since(programBegan)))
	}
}

// removeStream counts one stream less.
func (l *decodeLoad) removeStream() {
	if l != nil {
		l.streams.Add(-1)
	}
}

// addHelper counts a helper and returns true, unless streams and helpers would then exceed limit.
func (l *decodeLoad) addHelper(limit int) bool {
	if l == nil {
		return true
	}
	if int(l.helpers.Add(1)+l.streams.Load()) > limit {
		l.helpers.Add(-1)
		return false
	}
	return true
}

// removeHelper counts one helper less.
func (l *decodeLoad) removeHelper() {
	if l != nil {
		l.helpers.Add(-1)
	}
}

// hasRoom reports whether there is room for a helper, and has been for a quiet period.
func (l *decodeLoad) hasRoom(limit int) bool {
	if l == nil {
		return true
	}
	full := l.lastFull.Load()
	return int(l.streams.Load()+l.helpers.Load()) < limit && (full == 0 || time.Since(programBegan)-time.Duration(full) >= quietPeriod)
}

// overloaded reports whether streams and helpers exceed limit.
func (l *decodeLoad) overloaded(limit int) bool {
	return l != nil && int(l.streams.Load()+l.helpers.Load()) > limit
}
