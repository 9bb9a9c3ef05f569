// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// checkpoint is zero if there is none, or none yet.
type checkpoint struct {
	text string
	err  string // failure of the last write
}

// checkpointOf describes the checkpoints of all streams together, and when the oldest was written.
func checkpointOf(streams []informer.StreamStatus, now time.Time) (c checkpoint) {
	var size int64
	var oldest time.Time
	for _, s := range streams {
		c.err = cmp.Or(c.err, s.CheckpointError)
		size += s.CheckpointBytes
		if at := s.CheckpointTime; oldest.IsZero() || !at.IsZero() && at.Before(oldest) {
			oldest = at
		}
	}
	switch {
	case !oldest.IsZero():
		c.text = fmt.Sprintf("%s, written %s", bytesInWords(size), ago(oldest, now))
	case c.err != "":
		c.text = "none is written"
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
