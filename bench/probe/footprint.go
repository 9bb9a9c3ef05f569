// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"runtime"
	"time"
)

// Footprint returns the bytes of heap and stacks that are in use. It waits before until goroutines
// that are about to end have ended.
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
