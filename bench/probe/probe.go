// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// Cost is the resources that the whole process used during a piece of work, the garbage collector
// included.
type Cost struct {
	Wall   time.Duration
	CPU    time.Duration // user and system
	Bytes  float64       // allocated
	allocs float64
}

// CostOf measures work. It collects older garbage first.
func CostOf(work func() error) (Cost, error) {
	runtime.GC()
	m := StartMeter()
	err := work()
	return m.Stop(), err
}

// Meter is a measurement that has begun.
type Meter struct {
	before runtime.MemStats
	cpu    time.Duration
	began  time.Time
}

// StartMeter begins to measure.
func StartMeter() *Meter {
	m := &Meter{}
	runtime.ReadMemStats(&m.before)
	m.cpu, m.began = cpuTime(), time.Now()
	return m
}

// Stop returns the cost of what was done since the meter was started.
func (m *Meter) Stop() Cost {
	c := Cost{Wall: time.Since(m.began), CPU: cpuTime() - m.cpu}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	c.Bytes, c.allocs = float64(after.TotalAlloc-m.before.TotalAlloc), float64(after.Mallocs-m.before.Mallocs)
	return c
}

// Plus returns the sum.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.Wall + d.Wall, c.CPU + d.CPU, c.Bytes + d.Bytes, c.allocs + d.allocs}
}

// Share is the cost of one operation of many. Wall and CPU are in nanoseconds.
type Share struct{ Wall, CPU, Bytes, Allocs float64 }

// Per returns the cost of one of n operations.
func (c Cost) Per(n int) Share {
	of := float64(n)
	return Share{float64(c.Wall) / of, float64(c.CPU) / of, c.Bytes / of, c.allocs / of}
}

// LiveHeap collects garbage and returns the bytes of heap objects that are left.
func LiveHeap() float64 {
	runtime.GC()
	runtime.GC() // frees what the first one has left in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// WatchHeap samples the bytes of heap objects, dead ones that were not collected yet included, once
// a millisecond until the function that it returns is called; that returns the highest.
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
