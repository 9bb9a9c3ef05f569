// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"runtime"
	"time"
)

// Foot is the memory and the goroutines of something that runs.
type Foot struct{ Goroutines, Bytes float64 }

// Footprint waits until goroutines that are about to end have ended, then measures.
func Footprint() Foot {
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
	return Foot{Goroutines: float64(count), Bytes: heap + float64(m.StackInuse)}
}
