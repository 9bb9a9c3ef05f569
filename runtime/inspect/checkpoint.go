// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"time"
)

// checkpointReport is what an informer has on disk, in words. Both are "" if it has no checkpoint,
// or none yet.
type checkpointReport struct {
	Text string
	Err  string // why it could not be written the last time
}

// Checkpoint returns the checkpoint of all streams together.
func (i informerReport) Checkpoint(now time.Time) (c checkpointReport) {
	var size int64
	var oldest time.Time
	files, restored := 0, 0
	for _, s := range i.Streams {
		c.Err = cmp.Or(c.Err, s.CheckpointError)
		if s.CheckpointVersion == "" {
			continue
		}
		files++
		size += s.CheckpointBytes
		if files == 1 || s.CheckpointTime.Before(oldest) {
			oldest = s.CheckpointTime
		}
		if s.Reflector.Restored != "" {
			restored++
		}
	}
	if files > 0 {
		c.Text = fmt.Sprintf("%s, written %s", bytesInWords(size), ago(oldest, now))
	}
	switch {
	case files < len(i.Streams) && c != checkpointReport{}:
		c.Text = fmt.Sprintf("%d of %s: %s", files, count(len(i.Streams), "file"), cmp.Or(c.Text, "none is written"))
	case restored == files && files > 0:
		c.Text += "; the informer has begun with it"
	}
	return c
}

// bytesInWords returns a number of bytes in the unit that makes it shortest: "512 bytes", "16.3
// MB".
func bytesInWords(n int64) string {
	switch {
	case n < 1e3:
		return count(int(n), "byte")
	case n < 1e6:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
