// SPDX-License-Identifier: Apache-2.0

package election

import "time"

// JumpWallClock sets the wall clock of the process forward, or back, as far as the fence can see.
func (e *Election) JumpWallClock(d time.Duration) {
	if t := e.fence.current.Load(); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.wall = t.wall.Add(-d)
	}
}
