// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"time"
)

// checkpointReport is zero if there is no checkpoint, or none yet.
type checkpointReport struct {
	Text string
	Err  string // failure of the last write
}

// Checkpoint describes the checkpoints of all streams together, and when the oldest was written.
func (i informerReport) Checkpoint(now time.Time) (c checkpointReport) {
	var size int64
	var oldest time.Time
	for _, s := range i.Streams {
		c.Err = cmp.Or(c.Err, s.CheckpointError)
		size += s.CheckpointBytes
		if at := s.CheckpointTime; oldest.IsZero() || !at.IsZero() && at.Before(oldest) {
			oldest = at
		}
	}
	switch {
	case !oldest.IsZero():
		c.Text = fmt.Sprintf("%s, written %s", bytesInWords(size), ago(oldest, now))
	case c.Err != "":
		c.Text = "none is written"
	}
	return c
}

// bytesInWords formats a number of bytes in the largest fitting unit: "512 bytes", "16.3 MB".
func bytesInWords(n int64) string {
	switch {
	case n < 1e3:
		return count(int(n), "byte")
	case n < 1e6:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
