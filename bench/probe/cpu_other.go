// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package probe

import "time"

var began = time.Now()

// cpuTime returns wall time on this system.
func cpuTime() time.Duration { return time.Since(began) }
