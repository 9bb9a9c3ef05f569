// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// idleBench measures the memory and goroutines of an informer that has nothing to do. It has one
// object; its source sends nothing and has neither goroutines nor buffers.
func idleBench(handlers int, bytes float64) bench {
	return bench{
		name:  fmt.Sprintf("idle/%d", handlers),
		title: func(sizes) string { return fmt.Sprintf("an idle informer with %d handlers", handlers) },
		measures: []measure{
			{name: "goroutines", ratio: 0.5},
			{name: "heap and stacks", unit: inBytes, ratio: bytes},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			return func() (outcome, error) { return idleOnce(e.side, e.sizes.Idle, handlers) }, nil, nil
		},
	}
}

func idleBenches() []bench { return []bench{idleBench(0, 0.4), idleBench(10, 0.15)} }

func idleOnce(s side, informers, handlers int) (outcome, error) {
	pods := slimPods(1)
	feeds := make([]*feed, informers)
	for i := range feeds {
		feeds[i] = newFeed(pods, 0)
	}
	rigs := make([]podRig, informers)
	stops := make([]func(), 0, informers)
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	before := footprint()
	for i, f := range feeds {
		r, err := newPodRig(s, f, informer.WithWatchList(false))
		if err != nil {
			return outcome{}, err
		}
		rigs[i] = r
		for range handlers {
			if err := r.handle(handler{add: func(*corev1.Pod) {}, update: func(*corev1.Pod) {}}); err != nil {
				return outcome{}, err
			}
		}
		stop, err := r.start()
		if err != nil {
			return outcome{}, err
		}
		stops = append(stops, stop)
	}
	var saw seen
	for _, r := range rigs {
		if err := waitSynced(r); err != nil {
			return outcome{}, err
		}
		saw.Objects += sumUpPods(r.objects()).Objects
	}
	after := footprint()
	per := func(later, earlier float64) float64 { return (later - earlier) / float64(informers) }
	return outcome{Seen: saw, Values: map[string]float64{
		"goroutines":      per(after.goroutines, before.goroutines),
		"heap and stacks": per(after.bytes, before.bytes),
	}}, nil
}

// foot is the memory and the goroutines of something that runs.
type foot struct{ goroutines, bytes float64 }

// footprint waits until goroutines that are about to end have ended, then measures.
func footprint() foot {
	count, steady := runtime.NumGoroutine(), 0
	for deadline := time.Now().Add(time.Minute); steady < 15 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		if now := runtime.NumGoroutine(); now == count {
			steady++
		} else {
			count, steady = now, 0
		}
	}
	heap := liveHeap()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return foot{goroutines: float64(count), bytes: heap + float64(m.StackInuse)}
}
