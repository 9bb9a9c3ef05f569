// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// cost is the resources that the whole process used during a piece of work, the garbage collector
// included.
type cost struct {
	wall   time.Duration
	cpu    time.Duration // user and system
	bytes  float64       // allocated
	allocs float64
}

// costOf measures work. It collects older garbage first.
func costOf(work func() error) (cost, error) {
	runtime.GC()
	m := startMeter()
	err := work()
	return m.stop(), err
}

// runningMeter is a measurement that has begun.
type runningMeter struct {
	before runtime.MemStats
	cpu    time.Duration
	began  time.Time
}

func startMeter() *runningMeter {
	m := &runningMeter{}
	runtime.ReadMemStats(&m.before)
	m.cpu, m.began = cpuTime(), time.Now()
	return m
}

func (m *runningMeter) stop() cost {
	c := cost{wall: time.Since(m.began), cpu: cpuTime() - m.cpu}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	c.bytes, c.allocs = float64(after.TotalAlloc-m.before.TotalAlloc), float64(after.Mallocs-m.before.Mallocs)
	return c
}

func (c cost) plus(d cost) cost {
	return cost{c.wall + d.wall, c.cpu + d.cpu, c.bytes + d.bytes, c.allocs + d.allocs}
}

// share is the cost of one operation of many.
type share struct{ wall, cpu, bytes, allocs float64 } // wall and cpu in nanoseconds

func (c cost) per(n int) share {
	of := float64(n)
	return share{float64(c.wall) / of, float64(c.cpu) / of, c.bytes / of, c.allocs / of}
}

// liveHeap collects garbage and returns the bytes of heap objects that are left.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC() // frees what the first one has left in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// watchHeap samples the bytes of heap objects, dead ones that were not collected yet included, once
// a millisecond until the function that it returns is called; that returns the highest.
func watchHeap() (peak func() float64) {
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
