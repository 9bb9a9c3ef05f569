// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// Cost is the resources used by the whole process during a piece of work, including the garbage
// collector's.
type Cost struct {
	Wall  time.Duration
	CPU   time.Duration // user and system
	bytes float64       // allocated
}

// CostOf measures work. It collects older garbage first.
func CostOf(work func() error) (Cost, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began := cpuTime(), time.Now()
	err := work()
	c := Cost{Wall: time.Since(began), CPU: cpuTime() - cpu}
	runtime.ReadMemStats(&after)
	c.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	return c, err
}

// Plus returns the sum.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.Wall + d.Wall, c.CPU + d.CPU, c.bytes + d.bytes}
}

// Share is the cost of one operation of many. CPU is in nanoseconds, Bytes are those allocated.
type Share struct{ CPU, Bytes float64 }

// Per returns the cost of one of n operations.
func (c Cost) Per(n int) Share { return Share{float64(c.CPU) / float64(n), c.bytes / float64(n)} }

// LiveHeap collects garbage and returns the bytes of the remaining heap objects.
func LiveHeap() float64 {
	runtime.GC()
	runtime.GC() // frees what the first one has left in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// WatchHeap samples the bytes of heap objects, including uncollected dead ones, once a millisecond.
// peak ends that, and returns the highest value.
func WatchHeap() (peak func() float64) {
	stop := make(chan struct{})
	var highest uint64
	var wg sync.WaitGroup
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			highest = max(highest, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	})
	return func() float64 {
		close(stop)
		wg.Wait()
		return float64(highest)
	}
}
