// SPDX-License-Identifier: Apache-2.0

package election

import "time"

// JumpWallClock sets the wall clock of the process forward, or back, as far as the fence can see.
func (e *Election) JumpWallClock(d time.Duration) { e.fence.JumpWallClock(d) }
