// SPDX-License-Identifier: Apache-2.0

package source

import (
	"sync/atomic"
	"time"
)

// crew counts the goroutines that decode much at the moment, of all streams that share it. While
// they are as many as processors, each stream is decoded by its own goroutine alone: that is the
// least work, as nobody has to find ends before they are decoded, and nothing is handed over. A nil
// crew has room for any number.
type decodeLoad struct {
	streams atomic.Int32 // each with the goroutine that reads it
	helpers atomic.Int32
	// when the streams alone were enough, as time since the program began; 0: never
	lastFull atomic.Int64
}

// processLoad is the crew of all streams of the program.
var processLoad decodeLoad

var programBegan = time.Now()

// quietPeriod is how long there has to be room before anybody helps: longer than a stream that decodes
// waits for its next bytes, or page.
const quietPeriod = 2 * time.Millisecond

// join counts a stream. With limit of them there are enough.
func (l *decodeLoad) addStream(limit int) {
	if l != nil && int(l.streams.Add(1)) >= limit {
		l.lastFull.Store(int64(time.Since(programBegan)))
	}
}

// leave counts one stream less.
func (l *decodeLoad) removeStream() {
	if l != nil {
		l.streams.Add(-1)
	}
}

// help counts a helper, if all together aren't more than limit then.
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

// done counts one helper less.
func (l *decodeLoad) removeHelper() {
	if l != nil {
		l.helpers.Add(-1)
	}
}

// room reports whether there is room for a helper, and was for a while.
func (l *decodeLoad) hasRoom(limit int) bool {
	if l == nil {
		return true
	}
	full := l.lastFull.Load()
	return int(l.streams.Load()+l.helpers.Load()) < limit && (full == 0 || time.Since(programBegan)-time.Duration(full) >= quietPeriod)
}

// crowded reports whether they are too many.
func (l *decodeLoad) overloaded(limit int) bool {
	return l != nil && int(l.streams.Load()+l.helpers.Load()) > limit
}
