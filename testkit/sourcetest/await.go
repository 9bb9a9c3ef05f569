// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"strconv"
	"time"
)

func (s *Server) wakeLocked() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// waitLocked returns a channel that is closed when watches may have work.
func (s *Server) waitLocked() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *Server) endWatchesLocked() {
	s.ends++
	s.wakeLocked()
}

func (s *Server) bookmarkInterval() time.Duration {
	if s.BookmarkInterval == 0 {
		return time.Minute
	}
	return s.BookmarkInterval
}

func format(version uint64) string { return strconv.FormatUint(version, 10) }
