// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

const stalledKeys = 10

// stallBench is a handler that hangs while a few objects change often. Another one of the same informer keeps up.
func stallBench() bench {
	return bench{
		name: "stall",
		title: func(z sizes) string {
			return fmt.Sprintf("a stalled handler, %s updates to %d objects", digits(float64(z.updates)), stalledKeys)
		},
		measures: []measure{
			{name: "heap growth", unit: inBytes},
			{name: "events it gets when it goes on"},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			return func(s side) (outcome, error) { return stallOnce(s, z) }, nothing, nil
		},
	}
}

func stallOnce(s side, z sizes) (outcome, error) {
	pods := slimPods(stalledKeys)
	f := newFeed(pods, 1000)
	r, err := newRig(s, f, informer.WithWatchList(false))
	if err != nil {
		return outcome{}, err
	}
	last := int64(z.updates) // generation of the last update
	stalled, release, caughtUp, kept := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	events := 0
	known := map[string]int64{} // what the stalled handler knows at the end
	if err := r.handle(handler{update: func(pod *corev1.Pod) {
		if events++; events == 1 {
			close(stalled)
			<-release
		}
		known[pod.Name] = pod.Generation
		if pod.Generation == last {
			close(caughtUp)
		}
	}}); err != nil {
		return outcome{}, err
	}
	if err := r.handle(handler{update: func(pod *corev1.Pod) {
		if pod.Generation == last {
			close(kept)
		}
	}}); err != nil {
		return outcome{}, err
	}
	stop, err := r.start()
	if err != nil {
		return outcome{}, err
	}
	defer stop()
	if err := waitSynced(r); err != nil {
		return outcome{}, err
	}
	update := func(i int) { f.update(changed(pods[i%stalledKeys], stalledKeys+2+i, int64(i))) }
	update(1)
	if err := wait(stalled, "the handler to stall"); err != nil {
		return outcome{}, err
	}
	base := liveHeap()
	for i := 2; i <= z.updates; i++ {
		update(i)
	}
	if err := wait(kept, "the handler that keeps up"); err != nil {
		return outcome{}, err
	}
	growth := liveHeap() - base
	close(release)
	if err := wait(caughtUp, "the stalled handler to catch up"); err != nil {
		return outcome{}, err
	}
	stop()
	saw := see(r.pods(), false)
	for _, generation := range known {
		saw.digest += uint64(generation)
	}
	return outcome{values: []float64{growth, float64(events)}, seen: saw}, nil
}

// lateBench is a handler that is added when there are many objects already.
func lateBench() bench {
	return bench{
		name: "late",
		title: func(z sizes) string {
			return fmt.Sprintf("a handler added when %s objects are there", digits(float64(z.objects)))
		},
		measures: []measure{
			{name: "until another handler sees the next event", unit: inTime},
			{name: "until AddEventHandler returns", unit: inTime},
			{name: "until it has seen all objects", unit: inTime},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			pods := slimPods(z.objects)
			return func(s side) (outcome, error) { return lateOnce(s, pods) }, nothing, nil
		},
	}
}

func lateOnce(s side, pods []*corev1.Pod) (outcome, error) {
	f := newFeed(pods, 1)
	r, err := newRig(s, f, informer.WithWatchList(false))
	if err != nil {
		return outcome{}, err
	}
	var noticed time.Time
	seenByOther := make(chan struct{})
	if err := r.handle(handler{update: func(*corev1.Pod) {
		noticed = time.Now()
		close(seenByOther)
	}}); err != nil {
		return outcome{}, err
	}
	stop, err := r.start()
	if err != nil {
		return outcome{}, err
	}
	defer stop()
	if err := waitSynced(r); err != nil {
		return outcome{}, err
	}
	event := changed(pods[0], len(pods)+2, 2)
	runtime.GC()

	first, all := make(chan struct{}), make(chan struct{})
	added, returned := 0, make(chan error, 1)
	var returnedAt, allAt time.Time
	began := time.Now()
	go func() { // ends when the handler is added, which is waited for below
		err := r.handle(handler{add: func(*corev1.Pod) {
			switch added++; added {
			case 1:
				close(first)
			case len(pods):
				allAt = time.Now()
				close(all)
			}
		}})
		returnedAt = time.Now()
		returned <- err
	}()
	if err := wait(first, "the late handler's first object"); err != nil {
		return outcome{}, err
	}
	sent := time.Now()
	f.update(event)
	if err := wait(seenByOther, "the event behind the late handler"); err != nil {
		return outcome{}, err
	}
	if err := <-returned; err != nil {
		return outcome{}, err
	}
	if err := wait(all, "the late handler"); err != nil {
		return outcome{}, err
	}
	stop()
	saw := see(r.pods(), false)
	saw.events = added
	return outcome{
		values: []float64{float64(noticed.Sub(sent)), float64(returnedAt.Sub(began)), float64(allAt.Sub(began))},
		seen:   saw,
	}, nil
}

// idleBench is what informers and handlers take that have nothing to do.
func idleBench() bench {
	return bench{
		name:  "idle",
		title: func(sizes) string { return "idle informers of 1 object, idle handlers" },
		measures: []measure{
			{name: "goroutines, per informer"},
			{name: "heap and stacks, per informer", unit: inBytes},
			{name: "goroutines, per handler"},
			{name: "heap and stacks, per handler", unit: inBytes},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			return func(s side) (outcome, error) { return idleOnce(s, z.idle) }, nothing, nil
		},
	}
}

func idleOnce(s side, n int) (outcome, error) {
	pods := slimPods(1)
	feeds := make([]*feed, n)
	for i := range feeds {
		feeds[i] = newFeed(pods, 0)
	}
	var stops []func()
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	rigs := make([]rig, n)
	empty := footprint()
	for i, f := range feeds {
		r, err := newRig(s, f, informer.WithWatchList(false))
		if err != nil {
			return outcome{}, err
		}
		rigs[i] = r
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
		saw.objects += see(r.pods(), false).objects
	}
	informers := footprint()
	for range n {
		if err := rigs[0].handle(handler{add: func(*corev1.Pod) {}, update: func(*corev1.Pod) {}}); err != nil {
			return outcome{}, err
		}
	}
	if err := waitSynced(rigs[0]); err != nil {
		return outcome{}, err
	}
	handlers := footprint()
	per := func(later, earlier float64) float64 { return (later - earlier) / float64(n) }
	return outcome{
		values: []float64{
			per(informers.goroutines, empty.goroutines),
			per(informers.bytes, empty.bytes),
			per(handlers.goroutines, informers.goroutines),
			per(handlers.bytes, informers.bytes),
		},
		seen: saw,
	}, nil
}

// foot is what something that lives takes.
type foot struct{ goroutines, bytes float64 }

// footprint waits until goroutines that are about to end have ended, then measures.
func footprint() foot {
	count, steady := runtime.NumGoroutine(), 0
	for deadline := time.Now().Add(patience); steady < 15 && time.Now().Before(deadline); {
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
