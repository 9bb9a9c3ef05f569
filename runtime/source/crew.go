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
type crew struct {
	streams atomic.Int32 // each with the goroutine that reads it
	helpers atomic.Int32
	// when the streams alone were enough, as time since the program began; 0: never
	full atomic.Int64
}

// everyone is the crew of all streams of the program.
var everyone crew

var programBegan = time.Now()

// lull is how long there has to be room before anybody helps: longer than a stream that decodes
// waits for its next bytes, or page.
const lull = 2 * time.Millisecond

// join counts a stream. With limit of them there are enough.
func (c *crew) join(limit int) {
	if c != nil && int(c.streams.Add(1)) >= limit {
		c.full.Store(int64(time.Since(programBegan)))
	}
}

// leave counts one stream less.
func (c *crew) leave() {
	if c != nil {
		c.streams.Add(-1)
	}
}

// help counts a helper, if all together aren't more than limit then.
func (c *crew) help(limit int) bool {
	if c == nil {
		return true
	}
	if int(c.helpers.Add(1)+c.streams.Load()) > limit {
		c.helpers.Add(-1)
		return false
	}
	return true
}

// done counts one helper less.
func (c *crew) done() {
	if c != nil {
		c.helpers.Add(-1)
	}
}

// room reports whether there is room for a helper, and was for a while.
func (c *crew) room(limit int) bool {
	if c == nil {
		return true
	}
	full := c.full.Load()
	return int(c.streams.Load()+c.helpers.Load()) < limit && (full == 0 || time.Since(programBegan)-time.Duration(full) >= lull)
}

// crowded reports whether they are too many.
func (c *crew) crowded(limit int) bool {
	return c != nil && int(c.streams.Load()+c.helpers.Load()) > limit
}
