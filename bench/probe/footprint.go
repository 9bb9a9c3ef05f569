// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"runtime"
	"time"
)

// Footprint returns the bytes of heap and stacks in use. It first waits for ending goroutines to
// end.
func Footprint() float64 {
	count, steady := runtime.NumGoroutine(), 0
	for deadline := time.Now().Add(time.Minute); steady < 15 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		if now := runtime.NumGoroutine(); now == count {
			steady++
		} else {
			count, steady = now, 0
		}
	}
	heap := LiveHeap()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return heap + float64(m.StackInuse)
}
