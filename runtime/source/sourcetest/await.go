// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"strconv"
	"time"
)

// wakeLocked wakes all watches.
func (s *Server) wakeLocked() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// waitLocked returns a channel that is closed when watches may have something to do.
func (s *Server) waitLocked() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// freshness is how long a list or a watch-list waits for a version that the server has not reached.
const freshness = 3 * time.Second

// await waits until the server has reached version, or until the time for that is over.
func (s *Server) await(version int64, done <-chan struct{}) {
	var timer *time.Timer
	for {
		s.mu.Lock()
		if s.version >= version {
			s.mu.Unlock()
			return
		}
		changed := s.waitLocked()
		s.mu.Unlock()
		if timer == nil {
			timer = time.NewTimer(freshness)
			defer timer.Stop()
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		case <-done:
			return
		}
	}
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

func format(version int64) string { return strconv.FormatInt(version, 10) }
